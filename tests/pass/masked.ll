; Vector accesses under a mask, if they may be PM: loads lane by lane, because a lane that is off touches nothing; stores
; by a hook that gets pointers, elements and mask, and makes them one store.
; RUN: %pass-on %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: @store(
; CHECK: [[AT:%.*]] = getelementptr i32, ptr %p, <4 x i64> <i64 0, i64 1, i64 2, i64 3>
; CHECK: store <4 x ptr> [[AT]], ptr [[POINTERS:%.*]], align
; CHECK: store <4 x i32> %v, ptr [[DATA:%.*]], align
; CHECK: call preserve_mostcc void @__blackout_store_lanes(ptr [[POINTERS]], ptr [[DATA]], i64 {{%.*}}, i64 4,
; CHECK: call void @llvm.masked.store
define void @store(<4 x i32> %v, ptr %p, <4 x i1> %m) {
  call void @llvm.masked.store.v4i32.p0(<4 x i32> %v, ptr %p, i32 4, <4 x i1> %m)
  ret void
}
; CHECK-LABEL: @scatter(
; CHECK: load i32, ptr getelementptr inbounds (i32, ptr @__blackout_module_record, i64 8)
; CHECK: store <2 x ptr> %p,
; CHECK: call preserve_mostcc void @__blackout_store_lanes({{.*}}, i64 8,
; CHECK: call void @llvm.masked.scatter
define void @scatter(<2 x i64> %v, <2 x ptr> %p, <2 x i1> %m) {
  call void @llvm.masked.scatter.v2i64.v2p0(<2 x i64> %v, <2 x ptr> %p, i32 8, <2 x i1> %m)
  ret void
}
; CHECK-LABEL: @load(
; CHECK-COUNT-4: call preserve_mostcc i32 @__blackout_load4(
; CHECK: call <4 x i32> @llvm.masked.load
; CHECK: phi <4 x i32>
define <4 x i32> @load(ptr %p, <4 x i1> %m, <4 x i32> %o) {
  %v = call <4 x i32> @llvm.masked.load.v4i32.p0(ptr %p, i32 4, <4 x i1> %m, <4 x i32> %o)
  ret <4 x i32> %v
}
; CHECK-LABEL: @gather(
; CHECK-COUNT-2: call preserve_mostcc i64 @__blackout_load8(
define <2 x i64> @gather(<2 x ptr> %p, <2 x i1> %m, <2 x i64> %o) {
  %v = call <2 x i64> @llvm.masked.gather.v2i64.v2p0(<2 x ptr> %p, i32 8, <2 x i1> %m, <2 x i64> %o)
  ret <2 x i64> %v
}
; As many bytes as lanes are on.
; CHECK-LABEL: @compress(
; CHECK: [[ON:%.*]] = call i4 @llvm.ctpop.i4(
; CHECK: [[WIDE:%.*]] = zext i4 [[ON]] to i64
; CHECK: [[BYTES:%.*]] = mul i64 [[WIDE]], 4
; CHECK: call preserve_mostcc ptr @__blackout_enter(ptr %p, i64 [[BYTES]],
; CHECK: call preserve_mostcc void @__blackout_leave(ptr %p, i64 [[BYTES]],
define void @compress(<4 x i32> %v, ptr %p, <4 x i1> %m) {
  call void @llvm.masked.compressstore.v4i32(<4 x i32> %v, ptr %p, <4 x i1> %m)
  ret void
}
; AVX's own: the sign bit of the mask's lane.
; CHECK-LABEL: @avx(
; CHECK: [[ON:%.*]] = icmp slt <8 x i32> %m, zeroinitializer
; CHECK: bitcast <8 x i1> [[ON]] to i8
; CHECK: call preserve_mostcc void @__blackout_store_lanes({{.*}}, i64 4,
define void @avx(ptr %p, <8 x i32> %m, <8 x float> %v) {
  call void @llvm.x86.avx.maskstore.ps.256(ptr %p, <8 x i32> %m, <8 x float> %v)
  ret void
}
; A non-temporal store, of bytes.
; CHECK-LABEL: @maskmov(
; CHECK: call preserve_mostcc void @__blackout_store_lanes({{.*}}, i64 1,
define void @maskmov(<16 x i8> %v, <16 x i8> %m, ptr %p) {
  call void @llvm.x86.sse2.maskmov.dqu(<16 x i8> %v, <16 x i8> %m, ptr %p)
  ret void
}
declare void @llvm.masked.store.v4i32.p0(<4 x i32>, ptr, i32, <4 x i1>)
declare void @llvm.masked.scatter.v2i64.v2p0(<2 x i64>, <2 x ptr>, i32, <2 x i1>)
declare <4 x i32> @llvm.masked.load.v4i32.p0(ptr, i32, <4 x i1>, <4 x i32>)
declare <2 x i64> @llvm.masked.gather.v2i64.v2p0(<2 x ptr>, i32, <2 x i1>, <2 x i64>)
declare void @llvm.masked.compressstore.v4i32(<4 x i32>, ptr, <4 x i1>)
declare void @llvm.x86.avx.maskstore.ps.256(ptr, <8 x i32>, <8 x float>)
declare void @llvm.x86.sse2.maskmov.dqu(<16 x i8>, <16 x i8>, ptr)
