; Every size of load and store: words go to the hook of their size, everything else is bracketed with
; its size in bytes.
; RUN: %pass-on %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; The site's row: id, number, size, kind (1 load, 2 store), flags.
; CHECK-DAG: @blackout.site = private global { i64, i32, i16, i8, i8, i32, i32, i32, i32 } { i64 {{.*}}, i32 0, i16 1, i8 1, i8 0,
; CHECK-DAG: section "blackout_sites"

; CHECK-LABEL: @i1(
; CHECK: call preserve_mostcc i8 @__blackout_load1(ptr %p
; CHECK: trunc i8 {{.*}} to i1
; CHECK: [[WIDE:%.*]] = zext i1 {{.*}} to i8
; CHECK: call preserve_mostcc void @__blackout_store1(ptr %q, i8 zeroext [[WIDE]]
define void @i1(ptr %p, ptr %q) {
  %v = load i1, ptr %p
  store i1 %v, ptr %q
  ret void
}
; CHECK-LABEL: @i8(
; CHECK: call preserve_mostcc i8 @__blackout_load1(ptr %p
; CHECK: call preserve_mostcc void @__blackout_store1(ptr %q
define void @i8(ptr %p, ptr %q) {
  %v = load i8, ptr %p
  store i8 %v, ptr %q
  ret void
}
; CHECK-LABEL: @i16(
; CHECK: call preserve_mostcc i16 @__blackout_load2(
; CHECK: call preserve_mostcc void @__blackout_store2(ptr %q, i16 zeroext
define void @i16(ptr %p, ptr %q) {
  %v = load i16, ptr %p
  store i16 %v, ptr %q
  ret void
}
; CHECK-LABEL: @i24(
; CHECK: call preserve_mostcc ptr @__blackout_enter(ptr %p, i64 3
; CHECK: load i24
; CHECK: call preserve_mostcc void @__blackout_leave(ptr %p, i64 3
; CHECK: call preserve_mostcc ptr @__blackout_enter(ptr %q, i64 3
; CHECK: store i24
; CHECK: call preserve_mostcc void @__blackout_leave(ptr %q, i64 3, ptr {{.*}}, i32 1)
define void @i24(ptr %p, ptr %q) {
  %v = load i24, ptr %p
  store i24 %v, ptr %q
  ret void
}
; CHECK-LABEL: @i32(
; CHECK: @__blackout_load4(
; CHECK: @__blackout_store4(
define void @i32(ptr %p, ptr %q) {
  %v = load i32, ptr %p
  store i32 %v, ptr %q
  ret void
}
; CHECK-LABEL: @i64(
; CHECK: @__blackout_load8(
; CHECK: @__blackout_store8(
define void @i64(ptr %p, ptr %q) {
  %v = load i64, ptr %p
  store i64 %v, ptr %q
  ret void
}
; CHECK-LABEL: @i128(
; CHECK: @__blackout_enter(ptr %p, i64 16
; CHECK: @__blackout_enter(ptr %q, i64 16
define void @i128(ptr %p, ptr %q) {
  %v = load i128, ptr %p
  store i128 %v, ptr %q
  ret void
}
; CHECK-LABEL: @pointer(
; CHECK: [[WORD:%.*]] = call preserve_mostcc i64 @__blackout_load8(
; CHECK: inttoptr i64 [[WORD]] to ptr
; CHECK: ptrtoint
; CHECK: @__blackout_store8(
define void @pointer(ptr %p, ptr %q) {
  %v = load ptr, ptr %p
  store ptr %v, ptr %q
  ret void
}
; CHECK-LABEL: @half(
; CHECK: bitcast i16 {{.*}} to half
; CHECK: bitcast half {{.*}} to i16
; CHECK: @__blackout_store2(
define void @half(ptr %p, ptr %q) {
  %v = load half, ptr %p
  store half %v, ptr %q
  ret void
}
; CHECK-LABEL: @float(
; CHECK: bitcast i32 {{.*}} to float
; CHECK: @__blackout_store4(
define void @float(ptr %p, ptr %q) {
  %v = load float, ptr %p
  store float %v, ptr %q
  ret void
}
; CHECK-LABEL: @double(
; CHECK: bitcast i64 {{.*}} to double
; CHECK: @__blackout_store8(
define void @double(ptr %p, ptr %q) {
  %v = load double, ptr %p
  store double %v, ptr %q
  ret void
}
; The bytes of the value, not those of its slot.
; CHECK-LABEL: @long_double(
; CHECK: @__blackout_enter(ptr %p, i64 10
; CHECK: @__blackout_enter(ptr %q, i64 10
define void @long_double(ptr %p, ptr %q) {
  %v = load x86_fp80, ptr %p
  store x86_fp80 %v, ptr %q
  ret void
}
; CHECK-LABEL: @v8(
; CHECK: bitcast i64 {{.*}} to <2 x i32>
; CHECK: @__blackout_store8(
define void @v8(ptr %p, ptr %q) {
  %v = load <2 x i32>, ptr %p
  store <2 x i32> %v, ptr %q
  ret void
}
; CHECK-LABEL: @v16(
; CHECK: @__blackout_leave(ptr %p, i64 16
; CHECK: @__blackout_leave(ptr %q, i64 16
define void @v16(ptr %p, ptr %q) {
  %v = load <4 x i32>, ptr %p
  store <4 x i32> %v, ptr %q
  ret void
}
; CHECK-LABEL: @v32(
; CHECK: @__blackout_leave(ptr %p, i64 32
; CHECK: @__blackout_leave(ptr %q, i64 32
define void @v32(ptr %p, ptr %q) {
  %v = load <4 x double>, ptr %p
  store <4 x double> %v, ptr %q
  ret void
}
; CHECK-LABEL: @v64(
; CHECK: @__blackout_leave(ptr %p, i64 64
; CHECK: @__blackout_leave(ptr %q, i64 64
define void @v64(ptr %p, ptr %q) {
  %v = load <16 x float>, ptr %p
  store <16 x float> %v, ptr %q
  ret void
}
; CHECK-LABEL: @bits(
; CHECK: @__blackout_enter(ptr %q, i64 1
define void @bits(<4 x i1> %v, ptr %q) {
  store <4 x i1> %v, ptr %q
  ret void
}
; CHECK-LABEL: @aggregate(
; CHECK: @__blackout_enter(ptr %p, i64 8
; CHECK: @__blackout_enter(ptr %q, i64 8
define void @aggregate(ptr %p, ptr %q) {
  %v = load { i8, i32 }, ptr %p
  store { i8, i32 } %v, ptr %q
  ret void
}
; CHECK-LABEL: @volatile(
; CHECK: @__blackout_load4(
; CHECK: load volatile i32
; CHECK: @__blackout_store4(
; CHECK: store volatile i32
define void @volatile(ptr %p, ptr %q) {
  %v = load volatile i32, ptr %p
  store volatile i32 %v, ptr %q
  ret void
}
