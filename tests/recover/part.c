// A restart that reads a part of a line, by a load or by read(), depends on that part only, whichever way it reads: what
// else of the line may be durable or not tells it nothing.
// RUN: %cc -O1 -g %s -o %t && rm -f %t.img
// RUN: for way in load read across; do %blackout check --detect=none --pm %t.img -- %t %t.img $way > %t.$way 2>&1 || { cat %t.$way; exit 1; }; \
// RUN:   FileCheck %s --check-prefix=WAY-$way < %t.$way || exit 1; done
// WAY-load: they stand for: 4 crash states that a restart can distinguish (of 50 sets of stores that may survive)
// WAY-load: they read: {{ *}}8 of 64 bytes
// WAY-read: they stand for: 4 crash states that a restart can distinguish (of 50 sets of stores that may survive)
// WAY-read: they read: {{ *}}8 of 64 bytes
// WAY-across: they stand for: 8 crash states that a restart can distinguish (of 50 sets of stores that may survive)
// WAY-across: they read: {{ *}}24 of 64 bytes
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  struct stat st;
  if (fd < 0 || fstat(fd, &st) != 0) return 9;
  int fresh = st.st_size == 0;
  if (fresh && ftruncate(fd, 4096) != 0) return 9;
  volatile uint64_t* p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) return 9;
  if (fresh) {
    for (int n = 0; n < 24; n += 3) p[8 + n] = n + 1;
    __asm__ volatile("mfence" ::: "memory");
    return 0;
  }
  uint64_t words[10] = {0};
  if (strcmp(argv[2], "load") == 0) words[0] = p[11];
  if (strcmp(argv[2], "read") == 0 && pread(fd, words, 8, 88) != 8) return 9;
  if (strcmp(argv[2], "across") == 0 && pread(fd, words, 72, 112) != 72) return 9;
  uint64_t sum = 0;
  for (int n = 0; n < 10; ++n) sum += words[n];
  printf("%lu\n", (unsigned long)sum);
  return 0;
}
