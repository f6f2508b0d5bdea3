// Flushes, fences, locked and non-temporal instructions in inline assembly, in the spellings of
// PMDK, Linux and the PM indexes. The site table shows what each statement was taken for.
// RUN: %cc-O0 %s | FileCheck %s
// RUN: %cc-O2 %s | FileCheck %s
// RUN: %plain-cc -O2 -g -fpass-plugin=%pass -shared -fPIC %s -o %t.so
// RUN: %blackout sites %t.so | FileCheck %s --check-prefix=SITES
typedef unsigned long word;
typedef long long v2 __attribute__((vector_size(16)));
typedef long long v4 __attribute__((vector_size(32)));

// CHECK-LABEL: @memory_forms(
// CHECK: [[AT:%.*]] = call preserve_mostcc ptr @__blackout_flush_place(ptr [[P:%.*]])
// CHECK: [[PLACE:%.*]] = phi ptr {{.*}}[[AT]]
// CHECK: asm sideeffect "clflush $0"{{.*}}elementtype(i8) [[PLACE]], ptr elementtype(i8) [[PLACE]])
// CHECK: call {{.*}}@__blackout_flush(ptr [[P]],
// CHECK-COUNT-5: call {{.*}}@__blackout_flush(
// CHECK-NOT: call {{.*}}@__blackout_
// SITES: clflush{{$}}
// SITES: clflushopt{{$}}
// SITES: clflushopt{{$}}
// SITES: clwb{{$}}
// SITES: clwb{{$}}
// SITES: clflushopt{{$}}
void memory_forms(char *p) {
  __asm__ volatile("clflush %0" : "+m"(*(volatile char *)p));
  __asm__ volatile(".byte 0x66; clflush %0" : "+m"(*(volatile char *)p));
  __asm__ volatile("clflushopt %0" : "+m"(*(volatile char *)p));
  __asm__ volatile(".byte 0x66; xsaveopt %0" : "+m"(*(volatile char *)p));
  __asm__ volatile("clwb %0" : "+m"(*(volatile char *)p));
  __asm__ volatile("data16 clflush\t%P0" : "+m"(*(volatile char *)p));
}
// CHECK-LABEL: @register_forms(
// CHECK-COUNT-4: call {{.*}}@__blackout_flush(
// CHECK: [[AT:%.*]] = getelementptr i8, ptr {{.*}}, i64 64
// CHECK: call {{.*}}@__blackout_flush(ptr [[AT]],
// CHECK: [[INDEX:%.*]] = mul i64 {{.*}}, 8
// CHECK: [[AT:%.*]] = getelementptr i8, ptr {{.*}}, i64 [[INDEX]]
// CHECK: call {{.*}}@__blackout_flush(ptr [[AT]],
// SITES: clflush{{$}}
// SITES: clwb{{$}}
// SITES: clflush{{$}}
// SITES: clwb{{$}}
// SITES: clflush{{$}}
// SITES: clflush{{$}}
void register_forms(char *p, word i) {
  __asm__ volatile("clflush (%0)" ::"r"(p) : "memory");
  __asm__ volatile("1: clwb (%0) # write back" ::"r"((word)p) : "memory");
  __asm__ volatile("clflush %a0" ::"r"(p) : "memory");
  __asm__ volatile("clwb (%%rdi)" ::"D"(p) : "memory");
  __asm__ volatile("clflush 64(%0)" ::"r"(p) : "memory");
  __asm__ volatile("clflush (%0,%1,8)" ::"r"(p), "r"(i) : "memory");
}
// CHECK-LABEL: @fences(
// CHECK-COUNT-3: call {{.*}}@__blackout_fence(
// CHECK: call {{.*}}@__blackout_rmw_fence(ptr null,
// CHECK: call {{.*}}@__blackout_rmw_fence(ptr null,
// CHECK-NOT: call {{.*}}@__blackout_
// SITES: sfence
// SITES: mfence
// SITES: lfence
// SITES: rmw
// SITES: rmw
void fences(void) {
  __asm__ volatile("sfence" ::: "memory");
  __asm__ volatile("mfence" ::: "memory");
  __asm__ volatile("lfence" ::: "memory");
  __asm__ volatile("lock; addl $0,0(%%rsp)" ::: "memory", "cc");
  __asm__ volatile("lock orq $0,(%%rsp)" ::: "memory", "cc");
}
// CHECK-LABEL: @locked(
// CHECK: call {{.*}}@__blackout_enter({{.*}}, i64 8,
// CHECK: [[OLD:%.*]] = load i64
// CHECK: asm sideeffect "lock; cmpxchgq
// CHECK: icmp ne i64
// CHECK: call {{.*}}@__blackout_leave({{.*}}, i64 8, ptr {{.*}}, i32 {{%.*}})
// CHECK: call {{.*}}@__blackout_rmw_fence(
// CHECK: call {{.*}}@__blackout_enter({{.*}}, i64 4,
// CHECK: call {{.*}}@__blackout_enter({{.*}}, i64 4,
// CHECK: call {{.*}}@__blackout_enter({{.*}}, i64 1,
// CHECK: call {{.*}}@__blackout_enter({{.*}}, i64 8,
// SITES: cmpxchg atomic 8
// SITES: rmw atomic 4
// SITES: rmw atomic 4
// SITES: rmw atomic 1
// SITES: rmw atomic 8
word locked(word *p, int *q, char *c, word v) {
  word old = 0;
  int one = 1;
  __asm__ volatile("lock; cmpxchgq %2,%1" : "+a"(old), "+m"(*p) : "r"(v) : "memory", "cc");
  __asm__ volatile("lock\txaddl\t%0,%1" : "+r"(one), "+m"(*q)::"memory", "cc");
  __asm__ volatile("xchgl %0,%1" : "+r"(one), "+m"(*q)::"memory");
  __asm__ volatile("lock; incb (%0)" ::"r"(c) : "memory", "cc");
  __asm__ volatile("xchg %0,(%1)" : "+r"(old) : "r"(p) : "memory");
  return old + (word)one;
}
// CHECK-LABEL: @nontemporal(
// CHECK: call {{.*}}@__blackout_enter({{.*}}, i64 8,
// CHECK: [[AT:%.*]] = getelementptr i8, ptr {{.*}}, i64 32
// CHECK: call {{.*}}@__blackout_enter(ptr [[AT]], i64 16,
// SITES: store-nt 8
// SITES: store-nt 16
// SITES: store-nt 32
// SITES: store-nt 16
// SITES: store-nt 16
// SITES: store-nt 64
// SITES: store-nt 4
__attribute__((target("avx"))) void nontemporal(char *p, const char *q, word v, v2 *w, v4 x, int i) {
  __asm__ volatile("movnti %1, %0" : "=m"(*(word *)p) : "r"(v));
  __asm__ volatile("movntdq %1, 32(%0)" ::"r"(p), "x"(*w) : "memory");
  __asm__ volatile("vmovntdq %1, (%0)" ::"r"(p), "x"(x) : "memory");
  __asm__ volatile("movdqa (%1), %%xmm0; movdqa 16(%1), %%xmm1\n\tmovntdq %%xmm0, (%0)\n\tmovntdq %%xmm1, 16(%0)" ::"r"(p),
                   "r"(q)
                   : "memory", "xmm0", "xmm1");
  __asm__ volatile("movdir64b (%1), %0" ::"r"(p), "r"(q) : "memory");
  __asm__ volatile("movntil %1, (%0)" ::"r"(p), "r"(i) : "memory");
}
// Plain stores; an output of a string of flushes and fences, or of an empty one, is none.
// CHECK-LABEL: @stores(
// SITES: store 8
// SITES: store 8
// SITES: store 4
// SITES: clwb{{$}}
// SITES: sfence
// SITES: store{{$}}
void stores(word *p, int *q, word v, word n) {
  __asm__ volatile("movq %1, %0" : "=m"(*p) : "r"(v));
  __asm__ volatile("movq %1, 8(%0)" ::"r"(p), "r"(v) : "memory");
  __asm__ volatile("movl $1, %0\n\t.byte 0x66; xsaveopt %0\n\tsfence" : "+m"(*q));
  __asm__ volatile("rep stosq" : "+D"(p), "+c"(n) : "a"(v) : "memory");
}
// A string store at a place that was moved before it: its place is not told, so both fault, in their order.
// CHECK-LABEL: @moved(
// CHECK-NOT: call {{.*}}@__blackout_{{enter|leave}}
// CHECK-LABEL: @again(
void moved(word *p, word *q, word n, word v) {
  __asm__ volatile("movq %2, (%3)\n\taddq $8, %0\n\trep stosq" : "+D"(p), "+c"(n) : "a"(v), "r"(q) : "memory");
}
// What was stored is read when the string is over: stores that are stored over fault one by one instead. Where a flush
// or a fence stands before the later one, it would be recorded behind it, and that is said.
// CHECK-NOT: call {{.*}}@__blackout_{{enter|leave|unfollowed}}
// CHECK: asm sideeffect "movq $1, 8
// CHECK: call {{.*}}@__blackout_flush(
// CHECK: call {{.*}}@__blackout_fence(
// CHECK: call {{.*}}@__blackout_unfollowed(
// CHECK: asm sideeffect "movq $1, (
// CHECK: call {{.*}}@__blackout_unfollowed(
// SITES: clwb{{$}}
// SITES: sfence
// SITES: clwb{{$}}
void again(word *p, word v) {
  __asm__ volatile("movq %1, (%0); movq $2, 4(%0)" ::"r"(p), "r"(v) : "memory");
  __asm__ volatile("movq %1, 8(%0); clwb 8(%0); sfence; movq $2, 8(%0)" ::"r"(p), "r"(v) : "memory");
  __asm__ volatile("movq %1, (%0); clwb (%0); .byte 0x0f, 0x01, 0xfc" ::"a"(p), "r"(v) : "memory");
}
// Two stores of one string apart from each other, with a fence between them.
// CHECK-LABEL: @apart(
// CHECK: call {{.*}}@__blackout_enter(
// CHECK: call {{.*}}@__blackout_enter(
// CHECK-NOT: call {{.*}}@__blackout_unfollowed(
// CHECK-LABEL: @second_half(
// SITES: store-nt 8
// SITES: sfence
// SITES: store-nt 8
void apart(word *p, word v) {
  __asm__ volatile("movnti %1, (%0); sfence; movnti %1, 8(%0)" ::"r"(p), "r"(v) : "memory");
}
// The modifier H: eight bytes further.
// CHECK: [[AT:%.*]] = getelementptr i8, ptr {{.*}}, i64 8
// CHECK: call {{.*}}@__blackout_enter(ptr [[AT]],
// SITES: store 8
void second_half(word *p, word v) { __asm__ volatile("movq %1, %H0" : "=m"(*p) : "r"(v)); }
// Stores whose place the operands don't tell are left alone: they fault and are followed. A locked one is a fence anywhere.
// CHECK-LABEL: @elsewhere(
// CHECK-NOT: call {{.*}}@__blackout_{{enter|store}}
// CHECK: call {{.*}}@__blackout_rmw_fence(
// CHECK-NOT: call {{.*}}@__blackout_
// CHECK: ret void
// SITES: rmw atomic
void elsewhere(word *p, word *from, word n) {
  __asm__ volatile("btsq %1, %0" : "+m"(*p) : "r"(n) : "cc");
  __asm__ volatile("btrq %1, (%0)" ::"r"(p), "r"(n) : "memory", "cc");
  __asm__ volatile("lock; btsq %1, %0" : "+m"(*p) : "r"(n) : "memory", "cc");
  __asm__ volatile("std; rep movsq; cld" : "+D"(p), "+S"(from), "+c"(n)::"memory");
}
// CHECK-LABEL: @none(
// CHECK-NOT: call {{.*}}@__blackout_{{enter|store}}
// CHECK: ret void
// SITES: sfence
// SITES-NOT: {{store|rmw}}
// SITES: {{^}}{{[0-9]+}} sites
void none(word *p) {
  __asm__ volatile("" : "+m"(*p)::"memory");
  __asm__ volatile("sfence" : "+m"(*p));
  word a = 1, b = 2;
  __asm__ volatile("xchgq %0,%1" : "+r"(a), "+r"(b));
}
// Machine code of a flush or a fence, in hexadecimal and in decimal, is not told apart.
// CHECK-LABEL: @machine_code(
// CHECK-COUNT-2: call {{.*}}@__blackout_unfollowed(
// CHECK-NOT: call {{.*}}@__blackout_
void machine_code(char *p) {
  __asm__ volatile(".byte 0x0f, 0xae, 0x3f" ::"D"(p) : "memory");
  __asm__ volatile(".byte 15, 174, 63" ::"D"(p) : "memory");
  __asm__ volatile(".byte 144" ::"D"(p) : "memory");
}
// CHECK-LABEL: @after_machine_code(
void after_machine_code(void) {}
