; EXPECT: N.valid guards N.key (flag)
; A pointer that went through a part of a variable in memory leads on from what was stored there.
declare void @use(ptr)
define i32 @f(ptr %n) {
  %box = alloca [2 x ptr]
  %slot = getelementptr i8, ptr %box, i64 8
  store ptr %n, ptr %slot
  call void @use(ptr %box)
  %v = load i32, ptr %n, !blackout.field !1
  %c = icmp ne i32 %v, 0
  br i1 %c, label %yes, label %no
yes:
  %m = load ptr, ptr %slot
  %key = getelementptr i8, ptr %m, i64 4
  %k = load i32, ptr %key, !blackout.field !2
  ret i32 %k
no:
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
