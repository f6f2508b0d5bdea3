; EXPECT: Inner.flag guards Outer.data (flag)
; EXPECT: Target.flag guards Outer.data (flag)
; EXPECT: Inner.flag guards Target.flag (flag)
; EXPECT: Inner.flag and Target.flag guard Outer.data nested
; EXPECT: volatile 1
; What is flushed, what contains it, what it contains and what it points to are persistent; what points to it is not.
declare void @llvm.x86.clwb(ptr)
define i32 @f(ptr %o) {
  %p = getelementptr i8, ptr %o, i64 0
  %q = getelementptr i8, ptr %o, i64 4
  %data = getelementptr i8, ptr %o, i64 8
  call void @llvm.x86.clwb(ptr %p), !blackout.field !1
  %v = load i32, ptr %p, !blackout.field !1
  %c = icmp ne i32 %v, 0
  br i1 %c, label %one, label %no
one:
  %k = load i32, ptr %data, !blackout.field !4
  ret i32 %k
no:
  %w = load i32, ptr %q, !blackout.field !2
  %d = icmp ne i32 %w, 0
  br i1 %d, label %no2, label %two
two:
  %l = load i32, ptr %data, !blackout.field !4
  ret i32 %l
no2:
  ret i32 0
}
define i32 @g(ptr %r) {
  %data = getelementptr i8, ptr %r, i64 4
  %u = load i32, ptr %r, !blackout.field !3
  %e = icmp ne i32 %u, 0
  br i1 %e, label %three, label %no
three:
  %m = load i32, ptr %data, !blackout.field !4
  ret i32 %m
no:
  ret i32 0
}
!blackout.prepared = !{!0}
!0 = !{i32 1}
!1 = !{!"Inner.flag"}
!2 = !{!"Target.flag"}
!3 = !{!"Handle.flag"}
!4 = !{!"Outer.data"}
!blackout.types = !{!10, !11, !12}
!10 = !{!"Outer", !"inner", !"Inner"}
!11 = !{!"Outer", !"target", !"*Target"}
!12 = !{!"Handle", !"outer", !"*Outer"}
