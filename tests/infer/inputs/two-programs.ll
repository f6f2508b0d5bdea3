; EXPECT: N.valid guards N.key (flag)
; EXPECT: N.other guards N.value (flag)
; Two units with a main each: both count.
define i32 @main(ptr %node) {
  %valid = getelementptr i8, ptr %node, i64 0
  %key = getelementptr i8, ptr %node, i64 4
  %v = load i32, ptr %valid, !blackout.field !1
  %c = icmp ne i32 %v, 0
  br i1 %c, label %yes, label %no
yes:
  %k = load i32, ptr %key, !blackout.field !2
  ret i32 %k
no:
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
; UNIT
define i32 @main(ptr %node) {
  %other = getelementptr i8, ptr %node, i64 12
  %value = getelementptr i8, ptr %node, i64 8
  %v = load i32, ptr %other, !blackout.field !4
  %c = icmp ne i32 %v, 0
  br i1 %c, label %yes, label %no
yes:
  %k = load i32, ptr %value, !blackout.field !3
  ret i32 %k
no:
  ret i32 0
}
!blackout.prepared = !{!0}
!0 = !{i32 1}
!3 = !{!"N.value"}
!4 = !{!"N.other"}
