// A pool that is mapped without a look at its size: after a crash before it was given one, reading it is a bus error. The
// restart says where its memory lies, which must be the same in every restart, and prints what it reads.
#include <fcntl.h>
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kSize = 65536, kWords = 2, kFlag = 64 };

static uint64_t sum(const volatile uint64_t* words) {
  uint64_t all = 0;
  for (int i = 0; i < kWords; ++i) all += words[i];
  return all;
}

static void where(const char* what, void* hint, size_t size) {
  void* p = mmap(hint, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  printf("%s %p\n", what, p);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  int found = access(argv[1], F_OK) == 0;
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (!found && ftruncate(fd, kSize) != 0) return 1;
  volatile uint64_t* words = mmap(NULL, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (found) {
    where("before", NULL, 1 << 20);
    printf("%d\n", (int)sum(words));
    where("after", NULL, 1 << 20);
    where("large", NULL, 64 << 20);
    return 0;
  }
  for (int i = 0; i < kWords; ++i) words[i] = 1;
  _mm_clflush((void*)words);
  _mm_sfence();
  words[kFlag] = 1;
  _mm_clflush((void*)&words[kFlag]);
  _mm_sfence();
  return 0;
}
