// Functions with properties: naked ones and resolvers of ifuncs are left alone; the rows of an inline
// function are in its comdat, so that a discarded copy takes them along.
// RUN: %cxx-O0 %s | FileCheck %s
// RUN: %cxx-O2 %s | FileCheck %s
// CHECK: @blackout.site{{.*}}section "blackout_sites", comdat($_Z6sharedPi)
__attribute__((noinline)) inline void shared(int *p) { *p = 1; }
void use_shared(int *p) { shared(p); }
// CHECK: define {{.*}}@bare(
// CHECK-NOT: __blackout_
// CHECK: unreachable
extern "C" __attribute__((naked)) void bare() { asm volatile("sfence\n\tret"); }
// CHECK: define {{.*}}@resolve(
// CHECK-NOT: __blackout_
// CHECK: ret ptr
int *chosen;
static void implementation(int) {}
extern "C" void (*resolve())(int) {
  *chosen = 1;
  return implementation;
}
void selected(int) __attribute__((ifunc("resolve")));
// CHECK: define {{.*}}@unwanted(
// CHECK-NOT: __blackout_
// CHECK: ret void
extern "C" __attribute__((disable_sanitizer_instrumentation)) void unwanted(int *p) { *p = 1; }
// The record and the constructor: one per program file.
// CHECK: define linkonce_odr hidden void @__blackout_module_begin() {{.*}}comdat
// CHECK: call void @__blackout_register_module(ptr @__blackout_module_record, ptr @__start_blackout_sites, ptr @__stop_blackout_sites)
