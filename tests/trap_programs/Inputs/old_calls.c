// Files by system calls as programs for 32 bits make them. What they are given must lie in the first 4 GiB.
#define _GNU_SOURCE
#include <emmintrin.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static long call(long number, const volatile void* a, long b, long c) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "0"(number), "b"((long)(uintptr_t)a), "c"(b), "d"(c) : "memory", "r8", "r9", "r10", "r11");
  return result;
}

int main(int argc, char** argv) {
  char* low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (low == MAP_FAILED || fd < 0 || ftruncate(fd, 4096) != 0) return 9;
  volatile uint64_t* p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  strcpy(low, "left");
  int restarted = p[0] == 1;
  if (!strcmp(argv[2], "files")) {
    // A file that every restart makes, writes and removes, none of which the user is to see.
    long made = call(5, low, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (made < 0) abort();
    if (call(4, (void*)made, (long)(uintptr_t)low, 4) != 4) abort();
    call(6, (void*)made, 0, 0);
    if (!restarted && call(10, low, 0, 0) != 0) abort();
  } else if (restarted || !strcmp(argv[2], "both")) {
    // mknod(2), which no table has.
    call(14, low, 0010600, 0);
  }
  p[0] = 1;
  _mm_clflush((void*)p);
  _mm_sfence();
  return 0;
}
