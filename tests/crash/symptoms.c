// One finding whose restarts fail in two ways, each in two crash states: a pool that is made under its own name.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && %cc -O1 -g %s -o program
// RUN: %blackout check --detect=none --pm pool -- ./program pool > out 2>&1; test $? = 1 && FileCheck %s < out
// RUN: test $(grep -c '^  .*aborts in refuse' %t.dir/out) = 1 && test $(grep -c '^shown:' %t.dir/out) = 1
// CHECK: the restarted program aborts in refuse (symptoms.c:
// CHECK: 4 crash states at
// CHECK: hint: {{ *}}make the pool under another name
// CHECK: SUMMARY: blackout: inconclusive, 1 shown
#include <emmintrin.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// A pool that was being made when the power failed.
__attribute__((noinline)) static void refuse(int aborts) {
  if (aborts) abort();
  *(volatile int*)16 = 1;
}

int main(int argc, char** argv) {
  struct stat st;
  int fd = open(argv[1], O_RDWR);
  if (fd >= 0) {
    if (fstat(fd, &st) != 0) return 9;
    if (st.st_size < 4 * 4096) refuse(st.st_size / 4096 % 2 == 0);
    return 0;
  }
  fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  for (int pages = 1; pages <= 4; ++pages)
    if (ftruncate(fd, pages * 4096) != 0) return 9;
  volatile uint64_t* p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  p[0] = 1;
  _mm_clflush((void*)p);
  _mm_sfence();
  return 0;
}
