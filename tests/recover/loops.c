// A restart that loops for ever without touching PM is shown by single steps, once it has used some time of a processor: its
// registers and memory repeat. One that counts is shown in compiled code by the turns that its loops make; in plain
// code it may end at any moment for all that can be known, as may one that looks at the processor's clock: neither a
// finding nor clean. One that computes for long and ends is right.
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && %cc -O1 -g %s -o compiled && %plain-cc -O1 -g %s -o plain
// RUN: for p in compiled plain; do for m in empty flag yield nested pm; do \
// RUN:   %blackout check --detect=none --pm pool -- ./$p pool $m > %t.out 2>&1; code=$?; rm -f pool; \
// RUN:   { test $code = 1 && grep -q 'hangs: .*in loop (loops.c' %t.out && grep -q '1 shown' %t.out; } || { echo $p $m $code; cat %t.out; exit 1; }; done; done
// RUN: for m in count clock; do %blackout check --detect=none --steps 100000 --run-timeout 60 --pm pool -- ./compiled pool $m > %t.out 2>&1; code=$?; rm -f pool; \
// RUN:   { test $code = 1 && grep -q 'hangs: more than 12800000 turns of its loops, and it read nothing new of its pools in loop (loops.c' %t.out && grep -q '1 shown' %t.out; } || { echo $m $code; cat %t.out; exit 1; }; done
// RUN: for m in count clock; do \
// RUN:   %blackout check --detect=none --run-timeout 1 --pm pool -- ./plain pool $m > %t.out 2>&1; code=$?; rm -f pool; \
// RUN:   { test $code = 3 && grep -q 'still computed when its time was over' %t.out; } || { echo $m $code; cat %t.out; exit 1; }; done
// That many turns may be what it needs: then --steps is too small. It is not while something new is read in between.
// RUN: %blackout check --detect=none --steps 1000 --pm pool -- ./compiled pool always > %t.out 2>&1; code=$?; rm -f pool; \
// RUN:   { test $code = 3 && grep -q 'it made more than 128000 turns of its loops.*--steps allows more' %t.out; } || { echo always $code; cat %t.out; exit 1; }
// RUN: head -c 4096 /dev/zero > pool && %blackout check --detect=none --steps 1000 --pm pool -- ./compiled pool reads > %t.out 2>&1 || { cat %t.out; exit 1; }; rm -f pool
// Nor does looking at it change what it does, in the middle of code that stands for its fences too.
// RUN: for p in compiled plain; do for m in long fences; do %blackout check --detect=none --run-timeout 60 --pm pool -- ./$p pool $m > %t.out 2>&1 || { cat %t.out; exit 1; }; rm -f pool; done; done
#include <emmintrin.h>
#include <fcntl.h>
#include <stdint.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
volatile uint64_t *p; volatile int flag;
__attribute__((noinline)) static void loop(const char* m) {
  if (!strcmp(m,"empty")) for(;;) {}
  if (!strcmp(m,"flag")) while(!flag) {}
  if (!strcmp(m,"yield")) while(!flag) sched_yield();
  if (!strcmp(m,"nested")) for(;;) for (volatile int i=0;i<100;i++) {}
  if (!strcmp(m,"count")) for(volatile uint64_t i=0;;i++) {}
  if (!strcmp(m,"pm")) while (p[0]==0) {}
  if (!strcmp(m,"long")) { for(volatile uint64_t i=0;i<1000000000u;i++) {} }
  if (!strcmp(m,"fences")) { for(volatile uint64_t i=0;i<1000000u;i++) _mm_sfence(); }
  if (!strcmp(m,"clock")) { while (__builtin_ia32_rdtsc()!=0) {} }
}
__attribute__((noinline)) static void turns(unsigned n) { for (volatile unsigned i = 0; i < n; i++) {} }
int main(int argc,char**argv){
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (ftruncate(fd, 4096) != 0) return 9;
  p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (!strcmp(argv[2], "always")) turns(1000000);
  // Two lines, each after so many turns that both together are too many.
  if (!strcmp(argv[2], "reads")) { turns(100000); uint64_t sum = p[0]; turns(100000); sum += p[8]; turns(20000); if (sum == 9) return 9; }
  if (p[16]==1) { if (p[8] == 1 && p[0] == 0) loop(argv[2]); return 0; }
  p[16]=1; _mm_clflush((void*)(p+16)); _mm_sfence();
  p[0] = 1; p[8] = 1; _mm_clflush((void*)p); _mm_clflush((void*)(p+8)); _mm_sfence();
  return 0;
}
