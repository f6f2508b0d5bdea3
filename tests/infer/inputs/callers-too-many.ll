
; From everywhere: five fields say nothing.
define i32 @get(ptr %p) {
  %v = load i32, ptr %p
  ret i32 %v
}
define i32 @f(ptr %p, ptr %key) {
  %a = call i32 @get(ptr %p), !blackout.arguments !21
  %b = call i32 @get(ptr %p), !blackout.arguments !22
  %c = call i32 @get(ptr %p), !blackout.arguments !23
  %d = call i32 @get(ptr %p), !blackout.arguments !24
  %e = call i32 @get(ptr %p), !blackout.arguments !25
  %t = icmp ne i32 %a, 0
  br i1 %t, label %yes, label %no
yes:
  %k = load i32, ptr %key, !blackout.field !2
  ret i32 %k
no:
  ret i32 0
}
!21 = !{!1}
!22 = !{!2}
!23 = !{!3}
!24 = !{!4}
!25 = !{!26}
!26 = !{!"N.fifth"}
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
