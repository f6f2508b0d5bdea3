// What can't be PM is left alone: the stack, whether or not its address escapes, thread-local variables,
// constants, and memory relative to a segment.
// RUN: %cc-O0 %s | FileCheck %s
// RUN: %cc-O2 %s | FileCheck %s
void use(void *);
extern _Thread_local int thread_local_value;
static const int table[4] = {1, 2, 3, 4};
// CHECK-LABEL: @stack(
// CHECK-NOT: call {{.*}}@__blackout_
// CHECK: ret
int stack(int n) {
  int kept[4] = {n, n, n, n};
  volatile int v = n;
  return kept[n & 3] + v;
}
// CHECK-LABEL: @escaping(
// CHECK-NOT: call {{.*}}@__blackout_
// CHECK: ret
int escaping(int n) {
  int a[4] = {n};
  use(a);
  a[n & 3] = 5;
  return a[2];
}
// CHECK-LABEL: @thread_local_variable(
// CHECK-NOT: call {{.*}}@__blackout_
// CHECK: ret
int thread_local_variable(int n) {
  thread_local_value += n;
  return thread_local_value;
}
// CHECK-LABEL: @constants(
// CHECK-NOT: call {{.*}}@__blackout_
// CHECK: ret
int constants(int n) { return table[n & 3]; }
// CHECK-LABEL: @by_value(
// CHECK-NOT: call {{.*}}@__blackout_
// CHECK: ret
struct big { long a[8]; };
long by_value(struct big b, int n) {
  b.a[n & 7]++;
  return b.a[3];
}
// CHECK-LABEL: @segment(
// CHECK-NOT: call {{.*}}@__blackout_
// CHECK: ret
long segment(void) { return *(long __attribute__((address_space(257))) *)0x28; }
// Global variables may be PM (a registered region).
// CHECK-LABEL: @global(
// CHECK: call {{.*}}@__blackout_store4(
int variable;
void global(int n) { variable = n; }
