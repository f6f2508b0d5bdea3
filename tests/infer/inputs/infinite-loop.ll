; EXPECT: N.valid guards N.key (flag)
; A loop without an end: there is no exit to post-dominate anything.
define void @f(ptr %node) {
  %valid = getelementptr i8, ptr %node, i64 0
  %key = getelementptr i8, ptr %node, i64 4
  %value = getelementptr i8, ptr %node, i64 8
  br label %turn
turn:
  %v = load i32, ptr %valid, !blackout.field !1
  %c = icmp ne i32 %v, 0
  br i1 %c, label %yes, label %next
yes:
  %k = load i32, ptr %key, !blackout.field !2
  br label %next
next:
  %l = load i32, ptr %value, !blackout.field !3
  br label %turn
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
