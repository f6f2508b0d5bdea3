; !nontemporal is a wish. x86 has such stores for words and vectors; bytes, halves and scalars in vector registers
; go through the cache, and calling those non-temporal would hide a missing flush.
; RUN: %pass-on %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
; Kinds in the rows: 2 is a store, 3 a non-temporal one.
; CHECK: @blackout.site{{.*}} i16 1, i8 2, i8 0,
; CHECK: @blackout.site{{.*}} i16 2, i8 2, i8 0,
; CHECK: @blackout.site{{.*}} i16 4, i8 2, i8 0,
; CHECK: @blackout.site{{.*}} i16 8, i8 2, i8 0,
; CHECK: @blackout.site{{.*}} i16 8, i8 2, i8 0,
; CHECK: @blackout.site{{.*}} i16 4, i8 3, i8 0,
; CHECK: @blackout.site{{.*}} i16 8, i8 3, i8 0,
; CHECK: @blackout.site{{.*}} i16 8, i8 3, i8 0,
; CHECK: @blackout.site{{.*}} i16 16, i8 3, i8 0,
; CHECK: @blackout.site{{.*}} i16 64, i8 3, i8 0,
; Optimised, an unaligned one is split into words.
; CHECK: @blackout.site{{.*}} i16 16, i8 3, i8 0,
; CHECK: @blackout.site{{.*}} i16 16, i8 2, i8 0,
; CHECK: @blackout.site{{.*}} i16 16, i8 3, i8 0,
define void @f(ptr %p, <4 x i32> %v, <16 x i32> %w) {
  store i8 1, ptr %p, !nontemporal !0
  store i16 1, ptr %p, !nontemporal !0
  store float 1.0, ptr %p, !nontemporal !0
  store double 1.0, ptr %p, !nontemporal !0
  store <2 x float> zeroinitializer, ptr %p, !nontemporal !0
  store i32 1, ptr %p, !nontemporal !0
  store i64 1, ptr %p, !nontemporal !0
  store ptr %p, ptr %p, !nontemporal !0
  store <4 x i32> %v, ptr %p, align 16, !nontemporal !0
  store <16 x i32> %w, ptr %p, align 64, !nontemporal !0
  store <4 x i32> %v, ptr %p, align 4, !nontemporal !0
  ret void
}
define void @unoptimised(ptr %p, <4 x i32> %v) noinline optnone {
  store <4 x i32> %v, ptr %p, align 8, !nontemporal !0
  store <4 x i32> %v, ptr %p, align 16, !nontemporal !0
  ret void
}
!0 = !{i32 1}
