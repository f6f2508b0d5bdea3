// A pool stays the same file for a restart that maps and changes it, also where it takes files of its own for that: a
// database that compares inode numbers (SQLite does) does not believe that its file was moved. A mapping that was moved
// is written from by system calls, beside a private one.
//
// RUN: %cc -O1 -g -Wall -Wextra -Werror %s -o %t.compiled && gcc -O1 -g -Wall -Wextra -Wno-comment -Werror %s -o %t.plain
// RUN: for p in compiled plain; do rm -f %t.pool; %blackout check --fail-on=perf --pm %t.pool -- %t.$p %t.pool || exit 1; done
#define _GNU_SOURCE
#include <emmintrin.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  struct stat before, mapped, named;
  int ends[2];
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (fd < 0 || pipe(ends) != 0 || fstat(fd, &before) != 0 || ftruncate(fd, 8192) != 0) return 3;
  volatile uint64_t* p = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED || fstat(fd, &mapped) != 0 || stat(argv[1], &named) != 0) return 4;
  if (before.st_ino != mapped.st_ino || before.st_ino != named.st_ino) return 5;
  void* own = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  char* room = mmap(0, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (own == MAP_FAILED || room == MAP_FAILED) return 6;
  p = mremap((void*)p, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, room + 32768);
  if (p == MAP_FAILED || write(ends[1], (void*)(p + 8), 8) != 8) return 7;
  if (fstat(fd, &mapped) != 0 || before.st_ino != mapped.st_ino) return 8;
  if (p[0] != 0 && p[8] != 1) return 9;
  if (p[0] != 0) return 0;
  p[8] = 1;
  _mm_clflush((const void*)(p + 8));
  _mm_sfence();
  p[0] = 1;
  _mm_clflush((const void*)p);
  _mm_sfence();
  return 0;
}
