
; A switch whose cases all lead to one place decides nothing.
define i32 @f(ptr %node) {
  %valid = getelementptr i8, ptr %node, i64 0
  %key = getelementptr i8, ptr %node, i64 4
  %v = load i32, ptr %valid, !blackout.field !1
  switch i32 %v, label %end [
    i32 1, label %end
    i32 2, label %end
  ]
end:
  %k = load i32, ptr %key, !blackout.field !2
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
