; Another object: that one is tested says nothing of the other, which nobody reaches through it.
declare void @llvm.x86.clwb(ptr)
define i32 @f(ptr %one, ptr %other) {
  call void @llvm.x86.clwb(ptr %one), !blackout.field !2
  %v = load i32, ptr %one, !blackout.field !1
  %c = icmp ne i32 %v, 0
  br i1 %c, label %yes, label %no
yes:
  %key = getelementptr i8, ptr %other, i64 4
  %k = load i32, ptr %key, !blackout.field !2
  ret i32 %k
no:
  ret i32 0
}
!blackout.prepared = !{!0}
!0 = !{i32 1}
!1 = !{!"N.valid"}
!2 = !{!"N.key"}
