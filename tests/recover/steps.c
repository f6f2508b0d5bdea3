// --steps: a restart that accesses PM more often than that is taken for one that never ends; one that ends before is not.
// So is one that looks at the clock more often: it may wait for a time.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && %cc -O1 -g %s -o compiled && %cc -O1 -g -DCLOCK %s -o clock
// RUN: %blackout check --detect=none --steps 1000 --pm pool -- ./clock pool > %t.out 2>&1; test $? = 1 || { cat %t.out; exit 1; }
// RUN: FileCheck %s < %t.out; rm -f pool
// RUN: %blackout check --detect=none --steps 100000 --pm pool -- ./clock pool && rm -f pool
// RUN: %blackout check --detect=none --steps 1000 --pm pool -- ./compiled pool > %t.out 2>&1; test $? = 1 || { cat %t.out; exit 1; }
// RUN: FileCheck %s < %t.out; rm -f pool
// CHECK: the restarted program hangs: more than 1000 steps
// CHECK: (1) {{.*}}stored here: {{.*}}steps.c:[[# @LINE + 30]]:
// CHECK: SUMMARY: blackout: 1 shown
// RUN: %blackout check --detect=none --steps 100000 --pm pool -- ./compiled pool
#include <emmintrin.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct pool {
  volatile uint64_t begun __attribute__((aligned(64)));
  volatile uint64_t done __attribute__((aligned(64)));
};

int main(int argc, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096) != 0) return 9;
  struct pool* p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  uint64_t sum = 0;
  // What was begun and not done takes long.
  if (p->begun && !p->done)
    for (int i = 0; i < 10000; ++i) {
#ifdef CLOCK
      struct timespec now;
      clock_gettime(CLOCK_MONOTONIC, &now);
#else
      sum += p->begun;
#endif
    }
  p->begun = 1;
  _mm_clflush((void*)&p->begun);
  _mm_sfence();
  p->done = 1;
  _mm_clflush((void*)&p->done);
  _mm_sfence();
  return sum == UINT64_MAX;
}
