; EXPECT: N.valid guards N.key (flag)
; What is stored to one element of a local array may be what is read from an element that nobody knows.
define i32 @f(ptr %node, i64 %at) {
  %array = alloca [4 x i32]
  %valid = getelementptr i8, ptr %node, i64 0
  %key = getelementptr i8, ptr %node, i64 4
  %v = load i32, ptr %valid, !blackout.field !1
  %one = getelementptr [4 x i32], ptr %array, i64 0, i64 1
  store i32 %v, ptr %one
  %some = getelementptr [4 x i32], ptr %array, i64 0, i64 %at
  %w = load i32, ptr %some
  %c = icmp ne i32 %w, 0
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
