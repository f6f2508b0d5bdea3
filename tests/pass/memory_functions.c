// memcpy, memmove, memset as intrinsics (asked first whether either side is PM) and libc's functions as
// calls (always the runtime's version, with the site in front).
// RUN: %cc-O0 %s | FileCheck %s
// RUN: %cc-O2 %s | FileCheck %s
// RUN: %cc-O2 -D_FORTIFY_SOURCE=2 %s | FileCheck %s --check-prefix=FORTIFY
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

// CHECK-LABEL: @copies(
// CHECK: call ptr @__blackout_memcpy(
// CHECK: call void @llvm.memcpy
// CHECK: call ptr @__blackout_memmove(
// CHECK: call void @llvm.memmove
// CHECK: call ptr @__blackout_memset(ptr {{.*}}, i32 7, i64 %
// CHECK: call void @llvm.memset
// FORTIFY-LABEL: @copies(
// FORTIFY: call ptr @__blackout_memcpy
void copies(char *d, const char *s, size_t n) {
  memcpy(d, s, n);
  memmove(d + n, s, n);
  memset(d + 2 * n, 7, n);
}
// What is copied to the stack is asked for too: its source may be PM.
// CHECK-LABEL: @from(
// CHECK: call {{.*}}@__blackout_memcpy(
// CHECK-LABEL: @whole(
// CHECK: call {{.*}}@__blackout_memcpy(
struct words { long word[9]; };
void use(void *);
void from(const char *s, size_t n) {
  char local[64];
  memcpy(local, s, n & 63);
  use(local);
}
void whole(const struct words *s) {
  struct words local = *s;
  use(&local);
}
// CHECK-LABEL: @strings(
// CHECK: call ptr @__blackout_strcpy(ptr @blackout.site{{.*}}, ptr
// CHECK: call ptr @__blackout_strncpy(
// CHECK: call ptr @__blackout_stpcpy(
// CHECK: call ptr @__blackout_strcat(
// CHECK: call ptr @__blackout_strncat(
// CHECK: call ptr @__blackout_mem{{p?}}cpy(
// CHECK: call void @__blackout_bzero(
// CHECK: call i32 (ptr, ptr, ptr, ...) @__blackout_sprintf(
// CHECK: call i32 (ptr, ptr, i64, ptr, ...) @__blackout_snprintf(
// CHECK-NOT: call {{.*}}@str
char *strings(char *d, const char *s, size_t n, double x) {
  strcpy(d, s);
  strncpy(d, s, n);
  d = stpcpy(d, s);
  strcat(d, s);
  strncat(d, s, n);
  d = mempcpy(d, s, n);
  explicit_bzero(d, n);
  sprintf(d, "%s %f", s, x);
  snprintf(d, n, "%d %f", 1, x);
  return d;
}
// CHECK-LABEL: @reads(
// CHECK-DAG: call i32 @__blackout_memcmp(
// CHECK-DAG: call i64 @__blackout_strlen(
// CHECK-DAG: call i32 @__blackout_strcmp(
// CHECK-DAG: call ptr @__blackout_strchr(
size_t reads(const char *a, const char *b, size_t n) {
  return strlen(a) + (size_t)strcmp(a, b) + (size_t)memcmp(a, b, n) + (size_t)strchr(a, (int)n);
}
// In tail position: the value is still returned.
// CHECK-LABEL: @tail(
// CHECK: [[R:%.*]] = call ptr @__blackout_strcpy(
// CHECK: ret ptr
char *tail(char *d, const char *s) { return strcpy(d, s); }
// Loops that the optimiser makes into memset.
// CHECK-LABEL: @loop(
// CHECK: __blackout_{{memset|store4}}
void loop(int *p, int n) {
  for (int i = 0; i < n; ++i) p[i] = 0;
}
