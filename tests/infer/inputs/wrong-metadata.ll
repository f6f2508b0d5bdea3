; EXPECT: N.valid guards N.key (flag)
; Metadata of another shape says nothing, and stops nothing.
define i32 @f(ptr %node) {
  %valid = getelementptr i8, ptr %node, i64 0
  %key = getelementptr i8, ptr %node, i64 4
  %v = load i32, ptr %valid, !blackout.field !1
  %x = load i32, ptr %valid, !blackout.field !30
  %y = load i32, ptr %valid, !blackout.field !31
  %z = load i32, ptr %valid, !blackout.field !32
  %w = call i32 @f(ptr %valid, ptr %key), !blackout.arguments !33
  %o = call i32 @f(ptr %valid, ptr %key), !blackout.arguments !34
  %s = add i32 %x, %y
  %s2 = add i32 %s, %z
  %d = icmp ne i32 %s2, 0
  br i1 %d, label %more, label %no
more:
  %c = icmp ne i32 %v, 0
  br i1 %c, label %yes, label %no
yes:
  %k = load i32, ptr %key, !blackout.field !2
  ret i32 %k
no:
  ret i32 0
}
!30 = !{i32 7}
!31 = !{}
!32 = !{!"a.a", !"b.b", !"c.c", !"d.d", !"e.e"}
!33 = !{}
!34 = !{!35, i32 5, !31, null}
!35 = !{null}
!blackout.types = !{!31, !36, !37, !38}
!36 = !{!"N"}
!37 = !{i32 1, i32 2, i32 3}
!38 = !{!"", !"", !""}
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
