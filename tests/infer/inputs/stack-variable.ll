; EXPECT: N.valid guards N.key (flag)
; A variable that stays in memory because its address is taken, one field of it.
declare void @use(ptr)
define i32 @f(ptr %node) {
  %valid = getelementptr i8, ptr %node, i64 0
  %key = getelementptr i8, ptr %node, i64 4
  %value = getelementptr i8, ptr %node, i64 8
  %s = alloca [2 x i32]
  call void @use(ptr %s)
  %v = load i32, ptr %valid, !blackout.field !1
  %s1 = getelementptr [2 x i32], ptr %s, i64 0, i64 1
  store i32 %v, ptr %s1
  %w = load i32, ptr %s1
  %c = icmp ne i32 %w, 0
  br i1 %c, label %yes, label %no
yes:
  %k = load i32, ptr %key, !blackout.field !2
  ret i32 %k
no:
  %u = load i32, ptr %s
  %d = icmp ne i32 %u, 0
  br i1 %d, label %maybe, label %end
maybe:
  ret i32 1
end:
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
