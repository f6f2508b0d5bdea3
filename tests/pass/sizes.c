// The accesses of C's types at every level: one hook call per access, none doubled, none lost.
// RUN: %cc-O0 %s | FileCheck %s
// RUN: %cc-O1 %s | FileCheck %s
// RUN: %cc-O2 %s | FileCheck %s
// RUN: %cc-O3 %s | FileCheck %s
#define CASE(name, type) \
  void name(type *p, type v) { *p = v; }
// CHECK-LABEL: @c1(
// CHECK-COUNT-1: call {{.*}}@__blackout_store1(
// CHECK-NOT: call {{.*}}@__blackout_
CASE(c1, char)
// CHECK-LABEL: @c2(
// CHECK-COUNT-1: call {{.*}}@__blackout_store2(
// CHECK-NOT: call {{.*}}@__blackout_
CASE(c2, short)
// CHECK-LABEL: @c4(
// CHECK-COUNT-1: call {{.*}}@__blackout_store4(
// CHECK-NOT: call {{.*}}@__blackout_
CASE(c4, int)
// CHECK-LABEL: @c8(
// CHECK-COUNT-1: call {{.*}}@__blackout_store8(
// CHECK-NOT: call {{.*}}@__blackout_
CASE(c8, long)
// CHECK-LABEL: @cf(
// CHECK-COUNT-1: call {{.*}}@__blackout_store4(
CASE(cf, float)
// CHECK-LABEL: @cd(
// CHECK-COUNT-1: call {{.*}}@__blackout_store8(
CASE(cd, double)
// CHECK-LABEL: @cld(
// CHECK-COUNT-1: call {{.*}}@__blackout_enter({{.*}}, i64 10,
// CHECK-COUNT-1: call {{.*}}@__blackout_leave({{.*}}, i64 10,
CASE(cld, long double)
// CHECK-LABEL: @c16(
// CHECK-COUNT-1: call {{.*}}@__blackout_enter({{.*}}, i64 16,
CASE(c16, __int128)
// CHECK-LABEL: @cb(
// CHECK-COUNT-1: call {{.*}}@__blackout_store1(
CASE(cb, _Bool)
// CHECK-LABEL: @cp(
// CHECK-COUNT-1: call {{.*}}@__blackout_store8(
CASE(cp, void *)
typedef int v4 __attribute__((vector_size(16)));
typedef int v8 __attribute__((vector_size(32)));
typedef int v16 __attribute__((vector_size(64)));
// CHECK-LABEL: @cv4(
// CHECK: call {{.*}}@__blackout_leave({{.*}}, i64 16,
void cv4(v4 *p, v4 *q) { *p = *q; }
// CHECK-LABEL: @cv8(
// CHECK: call {{.*}}@__blackout_leave({{.*}}, i64 32,
void cv8(v8 *p, v8 *q) { *p = *q; }
// CHECK-LABEL: @cv16(
// CHECK: call {{.*}}@__blackout_leave({{.*}}, i64 64,
void cv16(v16 *p, v16 *q) { *p = *q; }
// A copy of a struct: one event of its whole size.
// CHECK-LABEL: @copy(
// CHECK: call ptr @__blackout_memcpy(ptr {{.*}}, ptr {{.*}}, ptr {{.*}}, i64 100)
struct s { char c[100]; };
void copy(struct s *a, struct s *b) { *a = *b; }
