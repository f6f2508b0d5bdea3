// Vector accesses under a mask touch the bytes whose mask is set, and no others. A store of several runs of them is one
// store still: each run is cut at 8 bytes, not at its elements. Compiled and plain code are recorded alike.
//
// RUN: %cc -O1 -g0 -mavx2 %s -o %t.compiled && %plain-cc -O1 -g0 -mavx2 %s -o %t.plain && rm -f %t.img
// RUN: %blackout record --loads --pm %t.img -o %t.trace -- %t.compiled %t.img
// RUN: %blackout trace %t.trace | FileCheck %s
// RUN: %blackout record --loads --pm %t.img -o %t.trace -- %t.plain %t.img
// RUN: %blackout trace %t.trace | FileCheck --check-prefixes=CHECK,PLAIN %s
#include <immintrin.h>

#include "Inputs/pool.h"

__attribute__((target("avx512f"))) static void scatter(int* to) {
  // Too far apart to be executed at once.
  _mm512_mask_i32scatter_epi32(to, 7, _mm512_setr_epi32(0, 1, 512, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
                               _mm512_set1_epi32(5), 4);
}

int main(int argc, char** argv) {
  int* pool = mapPool(argv[1], 1 << 16);
  // CHECK: store 1:0x0 8 bytes = 0x100000001 (and on)
  // CHECK-NEXT: store 1:0x18 8 bytes = 0x100000001 {{[^(]*$}}
  _mm256_maskstore_epi32(pool, _mm256_setr_epi32(-1, -1, 0, 0, 0, 0, -1, -1), _mm256_set1_epi32(1));
  // CHECK: sfence
  _mm_sfence();
  // CHECK-NEXT: store-nt 1:0x41 3 bytes = 0x20202 (and on)
  // CHECK-NEXT: store-nt 1:0x4c 1 byte = 0x2 {{[^(]*$}}
  _mm_maskmoveu_si128(_mm_set1_epi8(2), _mm_setr_epi8(0, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0),
                      (char*)(pool + 16));
  // CHECK-NEXT: sfence
  _mm_sfence();
  // Compiled code reads lane by lane.
  // CHECK-NEXT: load 1:0x4
  // CHECK-NEXT: load 1:0x10
  // PLAIN-NEXT: sfence
  volatile __m256i sum = _mm256_maskload_epi32(pool, _mm256_setr_epi32(0, -1, 0, 0, -1, 0, 0, 0));
  _mm_sfence();
  // The compiler leaves this to the processor, and it is caught.
  // CHECK: load 1:0x0 4 bytes
  // CHECK-NEXT: load 1:0x18 4 bytes
  // CHECK-NEXT: mfence
  sum = _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), pool, _mm256_setr_epi32(0, 6, 9, 9, 9, 9, 9, 9),
                                    _mm256_setr_epi32(-1, -1, 0, 0, 0, 0, 0, 0), 4);
  _mm_mfence();
  if (!__builtin_cpu_supports("avx512f")) return 0;
  scatter(pool);
}
