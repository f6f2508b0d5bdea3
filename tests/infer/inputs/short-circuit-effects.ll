; EXPECT: N.valid guards N.key (flag)
; EXPECT: N.valid guards N.value (flag)
; EXPECT: N.key guards N.value (flag)
; EXPECT: N.key and N.valid guard N.value nested
; A store between the two tests: they are two conditions.
@counter = global i32 0
define i32 @f(ptr %node) {
  %valid = getelementptr i8, ptr %node, i64 0
  %key = getelementptr i8, ptr %node, i64 4
  %value = getelementptr i8, ptr %node, i64 8
  %v = load i32, ptr %valid, !blackout.field !1
  %c = icmp ne i32 %v, 0
  br i1 %c, label %second, label %no
second:
  store i32 1, ptr @counter
  %k = load i32, ptr %key, !blackout.field !2
  %d = icmp ne i32 %k, 0
  br i1 %d, label %yes, label %no
yes:
  %l = load i32, ptr %value, !blackout.field !3
  ret i32 %l
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
