// Assembly whose only operand is read, and no string of them is taken for a store: it would be bracketed as one, and a
// restart's read would count as a store of its own. The others write theirs.
// RUN: %cc-O2 %s | FileCheck %s
// CHECK-LABEL: define {{.*}}@reads(
// CHECK-NOT: __blackout_enter
// CHECK-LABEL: define {{.*}}@writes(
// CHECK-COUNT-5: call {{.*}}@__blackout_enter
#include <stdint.h>

uint64_t reads(uint64_t* p) {
  uint64_t low = 3, high = 0;
  double number;
  __asm__ volatile("mulq %2" : "+a"(low), "=d"(high) : "m"(p[0]) : "cc");
  __asm__ volatile("divq %2" : "+a"(low), "+d"(high) : "m"(p[1]) : "cc");
  __asm__ volatile("idivq %2" : "+a"(low), "+d"(high) : "m"(p[2]) : "cc");
  __asm__ volatile("fildll %1" : "=t"(number) : "m"(p[3]) :);
  __asm__ volatile("fldl %1" : "=t"(number) : "m"(p[4]) :);
  __asm__ volatile("faddl %1" : "+t"(number) : "m"(p[5]) :);
  __asm__ volatile("fldcw %0" : : "m"(p[6]));
  __asm__ volatile("ldmxcsr %0" : : "m"(p[7]));
  return low + high + (uint64_t)number;
}

void writes(uint64_t* p) {
  __asm__ volatile("fnstcw %0" : "=m"(p[0]));
  __asm__ volatile("fistpll %0" : "=m"(p[1]) : "t"(1.0) : "st");
  __asm__ volatile("fstpl %0" : "=m"(p[2]) : "t"(1.0) : "st");
  __asm__ volatile("stmxcsr %0" : "=m"(p[3]));
  __asm__ volatile("negq %0" : "+m"(p[4]) : : "cc");
}
