// Intel syntax, and strings with a variant for each.
// RUN: %plain-cc -masm=intel -O2 -g -fpass-plugin=%pass -shared -fPIC %s -o %t.so
// RUN: %blackout sites %t.so | FileCheck %s
// CHECK: clflush{{$}}
// CHECK: clwb{{$}}
// CHECK: store-nt 8
// CHECK: rmw atomic 8
// CHECK: sfence
void f(long *p, long v) {
  __asm__ volatile("clflush %0" : "+m"(*p));
  __asm__ volatile("clwb byte ptr [%0 + 64]" ::"r"(p) : "memory");
  __asm__ volatile("movnti qword ptr [%0], %1" ::"r"(p), "r"(v) : "memory");
  __asm__ volatile("xchg %0, %1" : "+m"(*p), "+r"(v)::"memory");
  __asm__ volatile("{sfence|sfence}" ::: "memory");
}
