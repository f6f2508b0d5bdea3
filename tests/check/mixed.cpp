// An instrumented program linked with an object that is not and that does its flushing: it is followed all the same.
// Without that (--trap never) nothing is said about durability, instead of a false alarm.
//
// RUN: %plain-cxx -O2 -mclwb -DPERSIST -c %s -o %t.plain.o
// RUN: for f in "-O2" "-O0" "-O2 -fno-pie -no-pie"; do %cxx $f -I%S/../record %s %t.plain.o -o %t || exit 1; \
// RUN:   %blackout check --pm %t.img -- %t %t.img || exit 1; \
// RUN:   %blackout check --trap never --pm %t.img -- %t %t.img > %t.out 2>&1; test $? -eq 3 || exit 1; FileCheck %s < %t.out || exit 1; \
// RUN:   %blackout record --trap never --pm %t.img -o %t.trace -- %t %t.img; %blackout check --from-trace %t.trace > %t.out 2>&1; test $? -eq 3 || exit 1; FileCheck %s < %t.out || exit 1; done
// RUN: for f in "-O2" "-O0" "-O2 -fno-pie -no-pie"; do %cxx $f -mclwb -DPERSIST -c %s -o %t.seen.o && %cxx $f -I%S/../record %s %t.seen.o -o %t || exit 1; \
// RUN:   %blackout check --pm %t.img -- %t %t.img || exit 1; done
// CHECK-NOT: [never-persisted]
// CHECK: part of mixed.cpp.tmp, which is not instrumented, may have flushed PM unseen
#ifdef PERSIST
#include <immintrin.h>

#include <cstddef>
void persist(char* p, std::size_t n) {
  for (std::size_t i = 0; i < n; i += 64) _mm_clwb(p + i);
  _mm_sfence();
}
#else
#include "Inputs/pool.h"

void persist(char* p, size_t n);

int main(int, char** argv) {
  auto* pool = static_cast<char*>(mapPool(argv[1], 4096));
  if (*static_cast<volatile char*>(pool) > 1) return 1;
  memset(pool, 1, 300);
  persist(pool, 300);
}
#endif
