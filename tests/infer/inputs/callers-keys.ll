; EXPECT: N.valid guards N.key (flag)
; An access through an argument has the keys that callers pass, through two levels.
define i32 @get(ptr %p) {
  %v = load i32, ptr %p
  ret i32 %v
}
define i32 @through(ptr %p) {
  %v = call i32 @get(ptr %p)
  ret i32 %v
}
define i32 @f(ptr %node) {
  %valid = getelementptr i8, ptr %node, i64 0
  %key = getelementptr i8, ptr %node, i64 4
  %v = call i32 @through(ptr %valid), !blackout.arguments !20
  %c = icmp ne i32 %v, 0
  br i1 %c, label %yes, label %no
yes:
  %k = load i32, ptr %key, !blackout.field !2
  ret i32 %k
no:
  ret i32 0
}
!20 = !{!1}
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
