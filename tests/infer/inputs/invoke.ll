; EXPECT: N.valid guards N.key (flag)
; EXPECT: N.valid guards N.value (flag)
; The result of an invoke is tested; the landing pad reads too.
declare i32 @__gxx_personality_v0(...)
declare void @may_throw()
define i32 @get(ptr %valid) noinline {
  call void @may_throw()
  %v = load i32, ptr %valid, !blackout.field !1
  ret i32 %v
}
define i32 @f(ptr %node) personality ptr @__gxx_personality_v0 {
  %valid = getelementptr i8, ptr %node, i64 0
  %key = getelementptr i8, ptr %node, i64 4
  %value = getelementptr i8, ptr %node, i64 8
  %v = invoke i32 @get(ptr %valid) to label %ok unwind label %bad
ok:
  %c = icmp ne i32 %v, 0
  br i1 %c, label %yes, label %no
yes:
  %k = load i32, ptr %key, !blackout.field !2
  invoke void @may_throw() to label %no unwind label %worse
no:
  ret i32 0
bad:
  %p = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %p
worse:
  %q = landingpad { ptr, i32 } cleanup
  %l = load i32, ptr %value, !blackout.field !3
  resume { ptr, i32 } %q
}
; Fields of struct N at the offsets of an array of i32: valid, key, value, other.
declare void @llvm.x86.clwb(ptr)
define void @flush(ptr %p) {
  call void @llvm.x86.clwb(ptr %p), !blackout.field !10
  ret void
}
!blackout.prepared = !{!0}
!0 = !{i32 1}
!10 = !{!"N"}
!1 = !{!"N.valid"}
!2 = !{!"N.key"}
!3 = !{!"N.value"}
!4 = !{!"N.other"}
