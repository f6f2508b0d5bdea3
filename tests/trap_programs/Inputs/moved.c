// A pool where the program wants it, between libraries, as libpmemobj does. A restart moves what it holds up and down
// by libc's loops, which keep parts of it in vector registers meanwhile, and says whether all of it is right: it always
// is.
#include <emmintrin.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { kSize = 1 << 16, kPart = 900 };

int main(int argc, char** argv) {
  struct stat st;
  int begun = stat(argv[1], &st) == 0 && st.st_size == kSize;
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, kSize) != 0) return 2;
  // Where the kernel has room for it: a hint.
  void* free = mmap(NULL, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(free, kSize);
  unsigned char* pool = mmap(free, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (pool == MAP_FAILED || pool != free) return 2;
  if (!begun) {
    for (int i = 0; i < 2; ++i) {
      for (int line = 0; line < kPart; line += 64) {
        for (int at = line; at < line + 64 && at < kPart; ++at)
          ((volatile unsigned char*)pool)[at] = (unsigned char)(at % 64 < 8 ? i + 1 : at);
        _mm_clflush(pool + line);
      }
      _mm_sfence();
    }
    return 0;
  }
  unsigned char before[kPart], *work = pool + 4096;
  memcpy(before, pool, kPart);
  int wrong = 0;
  for (int turn = 0; turn < 40; ++turn) {
    memcpy(work, pool, kPart);
    memmove(work + 40 + turn, work, kPart);
    wrong += memcmp(work + 40 + turn, before, kPart) != 0;
    memmove(work, work + 40 + turn, kPart);
    wrong += memcmp(work, before, kPart) != 0;
  }
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
