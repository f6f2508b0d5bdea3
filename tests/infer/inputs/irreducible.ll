; EXPECT: N.valid guards N.key (flag)
; EXPECT: N.valid guards N.value (flag)
; A loop with two entries: both its blocks run because of the test before it.
define i32 @f(ptr %node, i32 %n) {
entry:
  %valid = getelementptr i8, ptr %node, i64 0
  %key = getelementptr i8, ptr %node, i64 4
  %value = getelementptr i8, ptr %node, i64 8
  %v = load i32, ptr %valid, !blackout.field !1
  %c = icmp ne i32 %v, 0
  br i1 %c, label %enter, label %out
enter:
  %d = icmp eq i32 %n, 3
  br i1 %d, label %a, label %b
a:
  %i = phi i32 [ 0, %enter ], [ %m, %b ]
  %k = load i32, ptr %key, !blackout.field !2
  %e = icmp eq i32 %n, 4
  br i1 %e, label %b, label %out
b:
  %j = phi i32 [ 1, %enter ], [ %i, %a ]
  %l = load i32, ptr %value, !blackout.field !3
  %m = add i32 %j, 1
  %g = icmp eq i32 %n, 5
  br i1 %g, label %a, label %out
out:
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
