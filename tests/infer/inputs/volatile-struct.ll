; EXPECT: volatile 1
; A field of a struct that nothing flushes decides: it is counted, not listed.
declare void @llvm.x86.clwb(ptr)
define i32 @f(ptr %open, ptr %key) {
  call void @llvm.x86.clwb(ptr %key), !blackout.field !2
  %v = load i32, ptr %open, !blackout.field !1
  %c = icmp ne i32 %v, 0
  br i1 %c, label %yes, label %no
yes:
  %k = load i32, ptr %key, !blackout.field !2
  ret i32 %k
no:
  ret i32 0
}
!blackout.prepared = !{!0}
!0 = !{i32 1}
!1 = !{!"Handle.open"}
!2 = !{!"N.key"}
