; EXPECT: N.value guards N.key (count)
; The counter of a loop as an optimiser compares it, one ahead: i + 1 is as good as i.
define i32 @f(ptr %node) {
entry:
  %count = getelementptr i8, ptr %node, i64 8
  %key = getelementptr i8, ptr %node, i64 4
  %n = load i32, ptr %count, !blackout.field !3
  br label %turn
turn:
  %i = phi i32 [ 0, %entry ], [ %next, %on ]
  %ahead = add i32 %i, 1
  %c = icmp ne i32 %ahead, %n
  br i1 %c, label %on, label %out
on:
  %k = load i32, ptr %key, !blackout.field !2
  %next = add i32 %i, 1
  br label %turn
out:
  ret i32 0
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
