// How often the question "may this be PM?" is asked.
// RUN: %cc-O2 -fno-vectorize -fno-slp-vectorize -fno-unroll-loops %s | FileCheck %s
void call(void);
// A loop asks before it starts, once per pointer.
// CHECK-LABEL: @loop(
// CHECK-COUNT-1: icmp ule
// CHECK-NOT: icmp ule
// CHECK: phi
// CHECK: br i1 {{.*}}!prof
// CHECK: @__blackout_store4(
// CHECK-NOT: icmp ule
void loop(int *p, int n) {
  for (int i = 0; i < n; ++i) p[i] = i * i;
}
// No answer is carried across a call: it may map PM.
// CHECK-LABEL: @calls(
// CHECK: icmp ule
// CHECK: @__blackout_store4(
// CHECK: call void @call()
// CHECK: icmp ule
// CHECK: @__blackout_store4(
void calls(int *p) {
  *p = 1;
  call();
  *p = 2;
}
// CHECK-LABEL: @loop_with_call(
// CHECK: phi
// CHECK: icmp ule
// CHECK: call void @call()
void loop_with_call(int *p, int n) {
  for (int i = 0; i < n; ++i) {
    p[i] = i;
    call();
  }
}
// Fields of one object share an answer.
// CHECK-LABEL: @fields(
// CHECK-COUNT-1: icmp ule
// CHECK-NOT: icmp ule
// CHECK: ret void
struct s { long a; int b; char c; };
void fields(struct s *s, long v) {
  s->a = v;
  s->b = (int)v;
  s->c = (char)v;
}
// Loads have a window of their own.
// CHECK-LABEL: @copy(
// CHECK: load i64, ptr getelementptr inbounds (i64, ptr @__blackout_module_record, i64 2)
// CHECK: load i64, ptr getelementptr inbounds (i64, ptr @__blackout_module_record, i64 3)
// CHECK: load i64, ptr @__blackout_module_record,
void copy(int *a, int *b) { *a = *b; }
