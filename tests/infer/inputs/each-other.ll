; EXPECT: N.valid guards N.key (flag)
; EXPECT: N.key guards N.valid (flag)
; EXPECT: N.key and N.valid guard each other
define i32 @f(ptr %node) {
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
define i32 @g(ptr %node) {
  %valid = getelementptr i8, ptr %node, i64 0
  %key = getelementptr i8, ptr %node, i64 4
  %k = load i32, ptr %key, !blackout.field !2
  %c = icmp ne i32 %k, 0
  br i1 %c, label %yes, label %no
yes:
  %v = load i32, ptr %valid, !blackout.field !1
  ret i32 %v
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
