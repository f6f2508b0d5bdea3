// Every instruction that orders or flushes, once each, in order; the trace has them so, at their own lines.
#include "Inputs/pool.h"

static volatile uint64_t dram;

#define RUN(text, ...) __asm__ volatile(text : : __VA_ARGS__ : "memory", "cc")

static void swap(volatile uint64_t* p, uint64_t value) {
  __asm__ volatile("xchgq %0, %1" : "+r"(value), "+m"(*p) : : "memory");
}

__attribute__((noinline)) static void swapFails(volatile uint64_t* p) {
  uint64_t expected = 5;
  __asm__ volatile("lock cmpxchgq %2, %1" : "+a"(expected), "+m"(*p) : "r"(6ul) : "memory", "cc");
}

int main(int argc, char** argv) {
  volatile uint64_t* p = (volatile uint64_t*)mapPool(argv[1], 4096);
  // CHECK: store 1:0x0 8 bytes = 0x1 {{.*}}fences.c:[[# @LINE + 1]]:
  p[0] = 1;
  // CHECK-NEXT: clflush 1:0x0 {{.*}}fences.c:[[# @LINE + 1]]:
  RUN("clflush %0", "m"(p[0]));
  // CHECK-NEXT: clflushopt 1:0x40 {{.*}}fences.c:[[# @LINE + 1]]:
  RUN("clflushopt %0", "m"(p[9]));
  // CHECK-NEXT: clwb 1:0x80 {{.*}}fences.c:[[# @LINE + 1]]:
  RUN("clwb %0", "m"(p[16]));
  // The same as older assemblers had to spell them.
  // CHECK-NEXT: clflushopt 1:0x0 {{.*}}fences.c:[[# @LINE + 1]]:
  RUN(".byte 0x66; clflush %0", "m"(p[0]));
  // CHECK-NEXT: clwb 1:0x0 {{.*}}fences.c:[[# @LINE + 1]]:
  RUN(".byte 0x66; xsaveopt %0", "m"(p[0]));
  // CHECK-NEXT: sfence {{.*}}fences.c:[[# @LINE + 1]]:
  RUN("sfence", "i"(0));
  // CHECK-NEXT: mfence {{.*}}fences.c:[[# @LINE + 1]]:
  RUN("mfence", "i"(0));
  // Nothing is to be ordered: locked instructions on ordinary memory are no events.
  RUN("lock addq $1, %0", "m"(dram));
  swap(&dram, 7);
  // CHECK-NEXT: store 1:0x8 8 bytes = 0x2
  p[1] = 2;
  // CHECK-NEXT: rmw-fence {{.*}}fences.c:[[# @LINE + 1]]:
  RUN("lock addq $1, %0", "m"(dram));
  RUN("lock addq $1, %0", "m"(dram));
  // CHECK-NEXT: clwb 1:0x0
  RUN("clwb %0", "m"(p[1]));
  // CHECK-NEXT: rmw-fence {{.*}} in swap
  swap(&dram, 7);
  // CHECK-NEXT: store-nt 1:0x48 8 bytes = 0x9
  RUN("movnti %%rcx, %0", "m"(p[9]), "c"(9ul));
  // CHECK-NEXT: rmw-fence {{.*}}fences.c:[[# @LINE + 1]]:
  RUN("lock orl $0, (%%rsp)", "i"(0));
  // One that fails, on ordinary memory and on PM.
  // CHECK-NEXT: store 1:0x8 8 bytes = 0x3
  p[1] = 3;
  // CHECK-NEXT: rmw-fence {{.*}} in swapFails
  swapFails(&dram);
  // CHECK-NEXT: store 1:0x8 8 bytes = 0x4
  p[1] = 4;
  // CHECK-NEXT: rmw-fence {{.*}} in swapFails
  swapFails(&p[1]);
  // CHECK-NEXT: rmw 1:0x8 8 bytes = 0x7 {{.*}}fences.c:[[# @LINE + 1]]:
  RUN("lock addq $3, %0", "m"(p[1]));
  // CHECK-NEXT: rmw 1:0x10 8 bytes = 0x8 {{.*}} in swap
  swap(&p[2], 8);
  // A lfence orders nothing that persists, and a flush of ordinary memory is none of PM.
  // CHECK-NEXT: store 1:0x18 8 bytes = 0x5
  p[3] = 5;
  RUN("lfence", "i"(0));
  RUN("clflush %0", "m"(dram));
  // CHECK-NEXT: sfence {{.*}} in main{{$}}
  // CHECK-NOT: {{ t1 }}
  RUN("sfence", "i"(0));
  return dram == 7 && argc == 2 ? 0 : 3;
}
