; EXPECT: N.valid guards N.key (flag)
; EXPECT: N.other guards N.value (compare-and-swap)
; What comes after a loop that only waits, or tries to swap, stands under its condition.
define i32 @f(ptr %node) {
  %valid = getelementptr i8, ptr %node, i64 0
  %key = getelementptr i8, ptr %node, i64 4
  br label %wait
wait:
  %v = load atomic i32, ptr %valid acquire, align 4, !blackout.field !1
  %c = icmp ne i32 %v, 0
  br i1 %c, label %go, label %wait
go:
  %k = load i32, ptr %key, !blackout.field !2
  ret i32 %k
}
define i32 @g(ptr %node) {
  %other = getelementptr i8, ptr %node, i64 12
  %value = getelementptr i8, ptr %node, i64 8
  br label %try
try:
  %x = cmpxchg ptr %other, i32 0, i32 1 seq_cst seq_cst, !blackout.field !4
  %ok = extractvalue { i32, i1 } %x, 1
  br i1 %ok, label %go, label %try
go:
  %k = load i32, ptr %value, !blackout.field !3
  ret i32 %k
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
