; EXPECT: N.valid guards N.key (flag)
; EXPECT: N.other guards N.key (flag)
; EXPECT: N.valid guards N.other (flag)
; EXPECT: N.other guards N.valid (flag)
; EXPECT: N.other and N.valid guard N.key together
; EXPECT: N.other and N.valid guard each other
; The second test decides whether there is another turn, and the first one whether the second is made: both stand between
; a turn and the next one's read, which comes before them in the code.
define i32 @f(ptr %node) {
  %valid = getelementptr i8, ptr %node, i64 0
  %key = getelementptr i8, ptr %node, i64 4
  %other = getelementptr i8, ptr %node, i64 12
  br label %turn
turn:
  %k = load i32, ptr %key, !blackout.field !2
  br label %first
first:
  %v = load i32, ptr %valid, !blackout.field !1
  %c = icmp ne i32 %v, 0
  br i1 %c, label %second, label %out
second:
  %o = load i32, ptr %other, !blackout.field !4
  %d = icmp ne i32 %o, 0
  br i1 %d, label %turn, label %out
out:
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
