// Atomics that are calls into libatomic: too wide for an instruction, or not aligned.
// RUN: %cxx-O0 -std=c++20 -Wno-atomic-alignment %s | FileCheck %s
// RUN: %cxx-O2 -std=c++20 -Wno-atomic-alignment %s | FileCheck %s
struct Triple {
  long a, b, c;
};
// CHECK-LABEL: @_Z3allP6TripleS0_S0_(
// CHECK: call {{.*}}@__blackout_enter(ptr {{.*}}, i64 24,
// CHECK: call {{.*}}@__atomic_load(i64 {{.*}}24,
// CHECK: call {{.*}}@__blackout_leave(ptr {{.*}}, i64 24,
// CHECK: call {{.*}}@__blackout_enter(ptr {{.*}}, i64 24,
// CHECK: call {{.*}}@__atomic_store(i64 {{.*}}24,
// CHECK: call {{.*}}@__blackout_leave(ptr {{.*}}, i64 24,
// CHECK: call {{.*}}@__blackout_rmw_fence(
// CHECK: call {{.*}}@__blackout_enter(ptr {{.*}}, i64 24,
// CHECK: [[OK:%.*]] = call {{.*}}i1 @__atomic_compare_exchange(i64 {{.*}}24,
// CHECK: [[STORED:%.*]] = zext i1 [[OK]] to i32
// CHECK: call {{.*}}@__blackout_leave(ptr {{.*}}, i64 24, ptr {{.*}}, i32 [[STORED]])
// CHECK: call {{.*}}@__blackout_rmw_fence(
bool all(Triple *p, Triple *old, Triple *v) {
  __atomic_load(p, old, __ATOMIC_ACQUIRE);
  __atomic_store(p, v, __ATOMIC_RELEASE);
  return __atomic_compare_exchange(p, old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
