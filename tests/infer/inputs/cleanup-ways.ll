; EXPECT: N.valid guards N.key (flag)
; As front ends leave a scope: all ways through one block, which switches on where they go. N.other stands on one way only,
; and decides neither over the read of the other way nor over what comes after.
define i32 @f(ptr %node) {
entry:
  %valid = getelementptr i8, ptr %node, i64 0
  %key = getelementptr i8, ptr %node, i64 4
  %other = getelementptr i8, ptr %node, i64 12
  %value = getelementptr i8, ptr %node, i64 8
  %v = load i32, ptr %valid, !blackout.field !1
  %c = icmp ne i32 %v, 0
  br i1 %c, label %yes, label %no
yes:
  %k = load i32, ptr %key, !blackout.field !2
  br label %cleanup
no:
  %o = load i32, ptr %other, !blackout.field !40
  br label %cleanup
cleanup:
  %result = phi i32 [ %k, %yes ], [ 0, %no ]
  %where = phi i32 [ 1, %yes ], [ 2, %no ]
  switch i32 %where, label %never [
    i32 1, label %outer
    i32 2, label %on
  ]
on:
  br label %outer
outer:
  %r = phi i32 [ %result, %cleanup ], [ 7, %on ]
  %w = phi i32 [ %where, %cleanup ], [ 0, %on ]
  %same = icmp eq i32 %w, 0
  br i1 %same, label %rest, label %return
rest:
  br label %return
return:
  %x = phi i32 [ %r, %outer ], [ %r, %rest ]
  ret i32 %x
never:
  unreachable
}
!40 = !{!"V.other"}
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
