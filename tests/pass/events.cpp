// Events on demand: calls, branches, allocations, locks, also where the call may throw; not without being asked.
// RUN: %cxx-O0 -mllvm -blackout-events=call,branch,alloc,lock %s | FileCheck %s
// RUN: %cxx-O2 -mllvm -blackout-events=call,branch,alloc,lock %s | FileCheck %s
// RUN: %cxx-O2 %s | FileCheck %s --check-prefix=OFF
// OFF-NOT: @__blackout_{{call|branch|alloc|free|lock|unlock}}(
// RUN: not %plain-cxx -fplugin=%pass -fpass-plugin=%pass -mllvm -blackout-events=cal -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: -blackout-events=cal: not one of call, branch, alloc, lock
#include <pthread.h>
#include <stdlib.h>
struct Guard {
  ~Guard();
};
// CHECK-LABEL: @_Z5callsPFviEi(
// CHECK: call void @__blackout_call(ptr
// CHECK: @__blackout_branch(i32
void calls(void (*f)(int), int n) {
  f(n);
  if (n > 3) f(5);
}
// CHECK-LABEL: @_Z6invokei(
// CHECK: invoke {{.*}}@_Znwm(
// CHECK: call void @__blackout_alloc(ptr {{.*}}, i64 8,
// CHECK: call void @__blackout_free(
// CHECK: call void @_Zdl
void invoke(int n) {
  Guard g;
  long *p = new long(n);
  asm volatile("" ::"r"(p) : "memory");
  delete p;
}
// CHECK-LABEL: @_Z5cleari(
// CHECK: call {{.*}}@calloc(i64 {{.*}}4, i64 {{.*}}32)
// CHECK: call void @__blackout_alloc(ptr {{.*}}, i64 128,
// CHECK: [[SIZE:%[0-9]+]] = {{(shl|mul)[^,]* i64 [^,]*, (5|32)}}
// CHECK: call void @__blackout_alloc(ptr {{.*}}, i64 [[SIZE]],
void *clear(int n) {
  void *volatile p = calloc(4, 32);
  return calloc(static_cast<size_t>(n), 32);
}
// CHECK-LABEL: @_Z5locksP15pthread_mutex_t
// CHECK: call i32 @pthread_mutex_lock(
// CHECK: call void @__blackout_lock(
// CHECK: call void @__blackout_unlock(
// CHECK: call i32 @pthread_mutex_unlock(
// CHECK: [[R:%.*]] = {{.*}}call i32 @pthread_mutex_trylock(
// CHECK: icmp eq i32 [[R]], 0
// CHECK: call void @__blackout_lock(
void locks(pthread_mutex_t *m) {
  pthread_mutex_lock(m);
  pthread_mutex_unlock(m);
  pthread_mutex_trylock(m);
}
