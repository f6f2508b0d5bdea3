; EXPECT: N.valid guards N.key (flag)
; A copy of the whole struct is looked at: it is a read of the field.
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @use(ptr)
define i32 @f(ptr %n) {
  %key = getelementptr i8, ptr %n, i64 4
  %s = alloca [4 x i32]
  call void @llvm.memcpy.p0.p0.i64(ptr %s, ptr %n, i64 16, i1 false), !blackout.source !10
  call void @use(ptr %s)
  %v = load i32, ptr %s, !blackout.field !1
  %c = icmp ne i32 %v, 0
  br i1 %c, label %yes, label %no
yes:
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
