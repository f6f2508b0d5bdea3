; Atomics. A sequentially consistent store is xchg, a locked instruction, and so a fence on any
; memory; weaker stores and all loads are plain accesses whose sites say atomic. Locked instructions are bracketed
; in PM and fences elsewhere.
; RUN: %pass-on %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: @stores(
; CHECK: call preserve_mostcc void @__blackout_store8(
; CHECK: store atomic i64 1, ptr %p unordered
; CHECK: call preserve_mostcc void @__blackout_store8(
; CHECK: store atomic i64 2, ptr %p monotonic
; CHECK: call preserve_mostcc void @__blackout_store8(
; CHECK: store atomic i64 3, ptr %p release
; CHECK-NOT: rmw_fence
; CHECK: [[AT:%.*]] = call preserve_mostcc ptr @__blackout_enter(ptr %p, i64 8,
; CHECK: [[PLACE:%.*]] = phi ptr [ [[AT]], %{{.*}} ], [ %p, %{{.*}} ]
; CHECK: store atomic i64 4, ptr [[PLACE]] seq_cst
; CHECK: call preserve_mostcc void @__blackout_leave(ptr %p, i64 8, ptr {{.*}}, i32 1)
; CHECK: call preserve_mostcc void @__blackout_rmw_fence(ptr %p,
define void @stores(ptr %p) {
  store atomic i64 1, ptr %p unordered, align 8
  store atomic i64 2, ptr %p monotonic, align 8
  store atomic i64 3, ptr %p release, align 8
  store atomic i64 4, ptr %p seq_cst, align 8
  ret void
}
; CHECK-LABEL: @loads(
; CHECK-NOT: rmw_fence
; CHECK: call preserve_mostcc i64 @__blackout_load8(
; CHECK: load atomic i64, ptr %p monotonic
; CHECK: call preserve_mostcc i64 @__blackout_load8(
; CHECK: load atomic i64, ptr %p acquire
; CHECK: call preserve_mostcc i64 @__blackout_load8(
; CHECK: load atomic i64, ptr %p seq_cst
; CHECK-NOT: rmw_fence
define i64 @loads(ptr %p) {
  %a = load atomic i64, ptr %p monotonic, align 8
  %b = load atomic i64, ptr %p acquire, align 8
  %c = load atomic i64, ptr %p seq_cst, align 8
  %d = add i64 %a, %b
  %e = add i64 %d, %c
  ret i64 %e
}
; CHECK-LABEL: @rmw(
; CHECK-COUNT-17: call preserve_mostcc void @__blackout_rmw_fence(ptr %p,
; CHECK-NOT: rmw_fence
; CHECK: ret
define void @rmw(ptr %p, i32 %v) {
  %1 = atomicrmw xchg ptr %p, i32 %v seq_cst
  %2 = atomicrmw add ptr %p, i32 %v monotonic
  %3 = atomicrmw sub ptr %p, i32 %v acquire
  %4 = atomicrmw and ptr %p, i32 %v release
  %5 = atomicrmw nand ptr %p, i32 %v acq_rel
  %6 = atomicrmw or ptr %p, i32 %v seq_cst
  %7 = atomicrmw xor ptr %p, i32 %v seq_cst
  %8 = atomicrmw max ptr %p, i32 %v seq_cst
  %9 = atomicrmw min ptr %p, i32 %v seq_cst
  %10 = atomicrmw umax ptr %p, i32 %v seq_cst
  %11 = atomicrmw umin ptr %p, i32 %v seq_cst
  %12 = atomicrmw uinc_wrap ptr %p, i32 %v seq_cst
  %13 = atomicrmw udec_wrap ptr %p, i32 %v seq_cst
  %14 = atomicrmw fadd ptr %p, float 1.0 seq_cst
  %15 = atomicrmw fsub ptr %p, float 1.0 seq_cst
  %16 = atomicrmw fmax ptr %p, float 1.0 seq_cst
  %17 = atomicrmw fmin ptr %p, float 1.0 seq_cst
  ret void
}
; What the comparison said goes to leave.
; CHECK-LABEL: @cas(
; CHECK: call preserve_mostcc ptr @__blackout_enter(ptr %p, i64 8,
; CHECK: [[PAIR:%.*]] = cmpxchg weak ptr %{{[0-9]+}}
; CHECK: [[OK:%.*]] = extractvalue { i64, i1 } [[PAIR]], 1
; CHECK: [[STORED:%.*]] = zext i1 [[OK]] to i32
; CHECK: call preserve_mostcc void @__blackout_leave(ptr %p, i64 8, ptr {{.*}}, i32 [[STORED]])
; CHECK: call preserve_mostcc ptr @__blackout_enter(ptr %p, i64 16,
; CHECK: cmpxchg ptr %{{[0-9]+}}, i128
; CHECK: call preserve_mostcc void @__blackout_leave(ptr %p, i64 16,
define i1 @cas(ptr %p, i64 %a, i128 %b) {
  %x = cmpxchg weak ptr %p, i64 %a, i64 5 acq_rel monotonic
  %y = cmpxchg ptr %p, i128 %b, i128 5 seq_cst seq_cst, align 16
  %z = extractvalue { i128, i1 } %y, 1
  ret i1 %z
}
; 16 bytes are written by cmpxchg16b unless there is AVX.
; CHECK-LABEL: @wide(
; CHECK: store atomic i128 1
; CHECK: __blackout_rmw_fence(
define void @wide(ptr %p) {
  store atomic i128 1, ptr %p release, align 16
  ret void
}
; CHECK-LABEL: @wide_avx(
; CHECK: __blackout_enter(ptr %p, i64 16,
; CHECK: store atomic i128 1
; CHECK-NOT: __blackout_rmw_fence(
; CHECK: ret void
define void @wide_avx(ptr %p) "target-features"="+cx16,+avx" {
  store atomic i128 1, ptr %p release, align 16
  ret void
}
; On the stack: no bracket, but a fence all the same.
; CHECK-LABEL: @stack(
; CHECK-NOT: __blackout_enter
; CHECK: atomicrmw add ptr %s
; CHECK: [[ON:%.*]] = load i32, ptr getelementptr inbounds (i32, ptr @__blackout_module_record, i64 8)
; CHECK: icmp ne i32 [[ON]], 0
; CHECK: call preserve_mostcc void @__blackout_rmw_fence(ptr %s
define void @stack() {
  %s = alloca i32
  %1 = atomicrmw add ptr %s, i32 1 seq_cst
  ret void
}
; Only a full fence between threads is an instruction.
; CHECK-LABEL: @fences(
; CHECK-NOT: call
; CHECK: fence seq_cst
; CHECK-NEXT: call preserve_mostcc void @__blackout_fence(
; CHECK-NOT: call
; CHECK: ret
define void @fences() {
  fence acquire
  fence release
  fence acq_rel
  fence syncscope("singlethread") seq_cst
  fence seq_cst
  ret void
}
