// -blackout-loads=0 leaves loads alone, and the reading functions of libc.
// RUN: %cc-O2 -mllvm -blackout-loads=0 %s | FileCheck %s
#include <string.h>
// CHECK-LABEL: @f(
// CHECK-NOT: __blackout_load
// CHECK-NOT: __blackout_strlen
// CHECK: @__blackout_store8(
size_t f(size_t *p, const char *q) {
  *p = p[1] + strlen(q);
  return *p;
}
// A copy is a write that also reads: only its target is asked about.
// CHECK-LABEL: @copy(
// CHECK-COUNT-1: icmp ule
// CHECK-NOT: icmp ule
// CHECK: @__blackout_memcpy
void copy(char *d, const char *s, size_t n) { memcpy(d, s, n); }
