// How stores are recorded: in pieces of 8 bytes, of which each but the last says that it goes on; what a function fills up
// is recorded too; and a compare-and-swap that stores nothing is a fence still.
//
// RUN: %cxx -O1 -g -fno-builtin -mclwb %s -o %t && rm -f %t.img
// RUN: %blackout record --pm %t.img -o %t.trace -- %t %t.img
// RUN: %blackout trace %t.trace | FileCheck %s
#include <emmintrin.h>
#include <immintrin.h>

#include "Inputs/pool.h"

int main(int, char** argv) {
  constexpr size_t kPage = 4096;
  // The pool, and behind it a page that is in none.
  auto* pages = static_cast<char*>(mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  int fd = openPool(argv[1], 2 * kPage);
  auto* pool = static_cast<char*>(mmap(pages, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0));
  if (pool != pages) return 1;

  // CHECK: store 1:0x8 8 bytes = 0xffffffffffffffff (and on)
  // CHECK-NEXT: store 1:0x10 8 bytes = 0xffffffffffffffff {{[^(]*$}}
  _mm_storeu_si128(reinterpret_cast<__m128i*>(pool + 8), _mm_set1_epi8(-1));
  // Two bytes of a text and its zero, and five zeros, as libc makes them.
  // CHECK: store 1:0x8 2 bytes = 0x6261
  // CHECK-NEXT: store 1:0xa 1 byte = 0x0
  // CHECK-NEXT: store 1:0xb 4 bytes = 0x0
  // CHECK-NEXT: store 1:0xc 4 bytes = 0x0
  strncpy(pool + 8, "ab", 8);
  // CHECK-NEXT: clwb 1:0x8
  _mm_clwb(pool + 8);
  // CHECK-NEXT: rmw-fence
  long expected = 5;
  if (__atomic_compare_exchange_n(reinterpret_cast<long*>(pool + 64), &expected, 6, false, __ATOMIC_SEQ_CST,
                                  __ATOMIC_SEQ_CST))
    return 2;
  // A flush that nothing was stored before is ordered too.
  // CHECK-NEXT: clwb 1:0x8
  // CHECK-NEXT: rmw-fence
  _mm_clwb(pool + 8);
  static long counter;
  __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
  // One byte of a text, and its end.
  // CHECK-NEXT: store 1:0xa 1 byte = 0x63
  // CHECK-NEXT: store 1:0xb 1 byte = 0x0
  strncat(pool + 8, "cd", 1);
  // The second half is outside: nothing goes on.
  // CHECK-NEXT: store 1:0xff8 8 bytes = 0xffffffffffffffff {{[^(]*$}}
  _mm_storeu_si128(reinterpret_cast<__m128i*>(pool + kPage - 8), _mm_set1_epi8(-1));
  // CHECK-NEXT: store 1:0x80 1 byte
  pool[128] = 1;
}
