// Flushes and fences as intrinsics, at every level; non-temporal stores by <immintrin.h>.
// RUN: %cc-O0 %s | FileCheck %s
// RUN: %cc-O1 %s | FileCheck %s
// RUN: %cc-O2 %s | FileCheck %s
// RUN: %cc-O3 %s | FileCheck %s
// RUN: %plain-cc -O2 -g -fpass-plugin=%pass -shared -fPIC %s -o %t.so
// RUN: %blackout sites %t.so | FileCheck %s --check-prefix=SITES
#include <immintrin.h>
#define TARGET __attribute__((target("clflushopt,clwb,movdiri,movdir64b,avx512f")))

// CHECK-LABEL: @flushes(
// The line is flushed where that does not fault; the event is that of the program's own address.
// CHECK: [[AT:%.*]] = call preserve_mostcc ptr @__blackout_flush_place(ptr [[P:%.*]])
// CHECK: [[PLACE:%.*]] = phi ptr {{.*}}[[AT]]
// CHECK: call void @llvm.x86.sse2.clflush(ptr [[PLACE]])
// CHECK-NEXT: call preserve_mostcc void @__blackout_flush(ptr [[P]],
// CHECK: [[AT:%.*]] = call preserve_mostcc ptr @__blackout_flush_place(ptr [[P:%.*]])
// CHECK: [[PLACE:%.*]] = phi ptr {{.*}}[[AT]]
// CHECK: call void @llvm.x86.clflushopt(ptr [[PLACE]])
// CHECK-NEXT: call preserve_mostcc void @__blackout_flush(ptr [[P]],
// CHECK: [[AT:%.*]] = call preserve_mostcc ptr @__blackout_flush_place(ptr [[P:%.*]])
// CHECK: [[PLACE:%.*]] = phi ptr {{.*}}[[AT]]
// CHECK: call void @llvm.x86.clwb(ptr [[PLACE]])
// CHECK-NEXT: call preserve_mostcc void @__blackout_flush(ptr [[P]],
// SITES: clflush{{$}}
// SITES: clflushopt
// SITES: clwb
TARGET void flushes(char *p) {
  _mm_clflush(p);
  _mm_clflushopt(p);
  _mm_clwb(p);
}
// CHECK-LABEL: @fences(
// CHECK: call void @llvm.x86.sse.sfence()
// CHECK-NEXT: call preserve_mostcc void @__blackout_fence(
// CHECK: call void @llvm.x86.sse2.mfence()
// CHECK-NEXT: call preserve_mostcc void @__blackout_fence(
// CHECK: call void @llvm.x86.sse2.lfence()
// CHECK-NEXT: call preserve_mostcc void @__blackout_fence(
// CHECK: fence seq_cst
// CHECK-NEXT: call preserve_mostcc void @__blackout_fence(
// CHECK-NOT: call {{.*}}@__blackout_
// CHECK: ret void
// SITES: sfence
// SITES: mfence
// SITES: lfence
// SITES: mfence
void fences(void) {
  _mm_sfence();
  _mm_mfence();
  _mm_lfence();
  __sync_synchronize();
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
}
// CHECK-LABEL: @streams(
// CHECK-COUNT-5: call {{.*}}@__blackout_enter(
// SITES: store-nt 4
// SITES: store-nt 8
// SITES: store-nt 16
// SITES: store-nt 32
// SITES: store-nt 64
TARGET void streams(int *a, long long *b, __m128i *c, __m256i *d, __m512i *e, __m128i *v) {
  _mm_stream_si32(a, 1);
  _mm_stream_si64(b, 2);
  _mm_stream_si128(c, (__m128i){1, 2});
  _mm256_stream_si256(d, (__m256i){1, 2});
  _mm512_stream_si512(e, (__m512i){1, 2});
}
// CHECK-LABEL: @direct(
// CHECK: call {{.*}}@__blackout_enter({{.*}}, i64 4,
// CHECK: call {{.*}}@__blackout_enter({{.*}}, i64 8,
// CHECK: call {{.*}}@__blackout_enter({{.*}}, i64 64,
// SITES: store-nt 4
// SITES: store-nt 8
// SITES: store-nt 64
TARGET void direct(void *p, const void *q) {
  _directstoreu_u32(p, 1);
  _directstoreu_u64(p, 2);
  _movdir64b(p, q);
}
