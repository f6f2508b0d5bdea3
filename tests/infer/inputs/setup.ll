; EXPECT: N.valid guards N.key (flag)
; EXPECT: N.valid guards N.value (flag)
; A field that is set under its own test, with others: they are read because it says so.
define void @open(ptr %node) {
  %valid = getelementptr i8, ptr %node, i64 0
  %key = getelementptr i8, ptr %node, i64 4
  %v = load i32, ptr %valid, !blackout.field !1
  %c = icmp ne i32 %v, 77
  br i1 %c, label %format, label %end
format:
  store i32 0, ptr %key, !blackout.field !2
  store i32 77, ptr %valid, !blackout.field !1
  br label %end
end:
  ret void
}
define i32 @get(ptr %node) {
  %key = getelementptr i8, ptr %node, i64 4
  %value = getelementptr i8, ptr %node, i64 8
  %k = load i32, ptr %key, !blackout.field !2
  %l = load i32, ptr %value, !blackout.field !3
  %s = add i32 %k, %l
  ret i32 %s
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
