// A program's own function of a libc name is its own: it is called, and instrumented.
// RUN: %cc-O2 -fno-builtin %s | FileCheck %s
// CHECK-LABEL: define {{.*}}@strcpy(
// CHECK: call {{.*}}@__blackout_store1(
__attribute__((noinline)) char *strcpy(char *d, const char *s) {
  char *r = d;
  while ((*d++ = *s++)) {
  }
  return r;
}
// CHECK-LABEL: define {{.*}}@f(
// CHECK-NOT: __blackout_strcpy
// CHECK: call ptr @strcpy(
char *f(char *d, const char *s) { return strcpy(d, s); }
