; EXPECT: N.other guards N.value (flag)
; EXPECT: N.valid guards N.key (flag)
; A select decides over the load that only it uses, and over the address that it chooses.
define i32 @f(ptr %node) {
  %valid = getelementptr i8, ptr %node, i64 0
  %key = getelementptr i8, ptr %node, i64 4
  %v = load i32, ptr %valid, !blackout.field !1
  %k = load i32, ptr %key, !blackout.field !2
  %c = icmp ne i32 %v, 0
  %r = select i1 %c, i32 %k, i32 0
  ret i32 %r
}
define i32 @g(ptr %node) {
  %other = getelementptr i8, ptr %node, i64 12
  %here = getelementptr i8, ptr %node, i64 16
  %there = getelementptr i8, ptr %node, i64 20
  %v = load i32, ptr %other, !blackout.field !4
  %c = icmp ne i32 %v, 0
  %p = select i1 %c, ptr %here, ptr %there
  %r = load i32, ptr %p, !blackout.field !3
  ret i32 %r
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
