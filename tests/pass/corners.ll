; Instructions that other insertions would break: musttail, callbr, swifterror, byval, indirectbr,
; an access whose pointer is itself a load, an invoke of a libc function.
; RUN: %pass-on %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; The hook of the second access gets the phi, not the load that one branch makes.
; CHECK-LABEL: @chase(
; CHECK: [[P:%.*]] = phi ptr
; CHECK: call preserve_mostcc void @__blackout_store8(ptr [[P]],
define void @chase(ptr %p) {
  %q = load ptr, ptr %p
  store i64 1, ptr %q
  ret void
}
; CHECK-LABEL: @tail(
; CHECK: musttail call void @tail(
; CHECK-NEXT: ret void
define void @tail(ptr %p) {
  store i64 1, ptr %p
  musttail call void @tail(ptr %p)
  ret void
}
; CHECK-LABEL: @tail_libc(
; CHECK: [[R:%.*]] = call ptr @__blackout_strcpy(
; CHECK: ret ptr [[R]]
define ptr @tail_libc(ptr %a, ptr %b) {
  %r = musttail call ptr @strcpy(ptr %a, ptr %b)
  ret ptr %r
}
; CHECK-LABEL: @goto(
; CHECK: callbr void asm sideeffect "sfence; jmp ${0:l}"
define i32 @goto(ptr %p) {
  callbr void asm sideeffect "sfence; jmp ${0:l}", "!i"() to label %a [label %b]
a:
  %v = load i32, ptr %p
  ret i32 %v
b:
  store i32 3, ptr %p
  ret i32 2
}
; CHECK-LABEL: @swift(
; CHECK-NOT: __blackout
; CHECK: ret void
define swiftcc void @swift(ptr swifterror %e) {
  store ptr null, ptr %e
  ret void
}
; CHECK-LABEL: @byval(
; CHECK-NOT: __blackout
; CHECK: ret void
define void @byval(ptr byval(i64) %e) {
  store i64 1, ptr %e
  ret void
}
; CHECK-LABEL: @invoked(
; CHECK: invoke ptr @__blackout_strcpy(ptr @blackout.site{{.*}}, ptr %a, ptr %b)
; CHECK-NEXT: to label %ok unwind label %bad
define ptr @invoked(ptr %a, ptr %b) personality ptr @__gxx_personality_v0 {
  %r = invoke ptr @strcpy(ptr %a, ptr %b) to label %ok unwind label %bad
ok:
  store i8 1, ptr %r
  ret ptr %r
bad:
  %l = landingpad { ptr, i32 } cleanup
  store i8 2, ptr %a
  resume { ptr, i32 } %l
}
; CHECK-LABEL: @jumps(
; CHECK: indirectbr ptr
define i64 @jumps(ptr %p, i64 %i) {
  %t = getelementptr ptr, ptr %p, i64 %i
  %to = load ptr, ptr %t
  indirectbr ptr %to, [label %a, label %b]
a:
  %x = phi i64 [ 1, %0 ], [ %y, %b ]
  store i64 %x, ptr %p
  ret i64 %x
b:
  %y = load i64, ptr %p
  br label %a
}
; A loop without end, whose pointer comes from a phi of itself.
; CHECK-LABEL: @endless(
; CHECK: phi ptr [ %p, %0 ]
define void @endless(ptr %p) {
  br label %l
l:
  %q = phi ptr [ %p, %0 ], [ %n, %l ]
  %n = load ptr, ptr %q
  br label %l
}
; CHECK-LABEL: @unreachable(
define void @unreachable(ptr %p) {
  ret void
dead:
  %n = load ptr, ptr %p
  store i8 1, ptr %n
  br label %dead
}
declare ptr @strcpy(ptr, ptr)
declare i32 @__gxx_personality_v0(...)
