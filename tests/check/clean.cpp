// A program that does everything right is clean, at every level of optimisation, and says so with exit
// code 0, twice the same.
//
// RUN: for o in 0 1 2 3; do %cxx -O$o -mclwb -I%S/../record %s -o %t && rm -f %t.img && %blackout check --fail-on=perf --pm %t.img -- %t %t.img > %t.$o 2>&1 || exit 1; done
// RUN: FileCheck %s < %t.2
// RUN: %cxx -O2 -mclwb -I%S/../record %s -o %t && %blackout check --pm %t.img -- %t %t.img > %t.again 2>&1
// On a busy machine somebody who waits is told how long; that is no part of the report.
// RUN: for f in %t.2 %t.again; do grep -v "if they are like most" $f > $f.report || exit 1; done; diff %t.2.report %t.again.report
// CHECK: SUMMARY: blackout: no findings
#include <immintrin.h>

#include <atomic>

#include "Inputs/pool.h"

struct alignas(64) Slot {
  uint64_t key, value;
  std::atomic<uint64_t> valid;
};

static void persist(const void* p) {
  _mm_clwb(const_cast<void*>(p));
  _mm_sfence();
}

int main(int, char** argv) {
  auto* slots = static_cast<Slot*>(mapPool(argv[1], 1 << 16));
  for (uint64_t i = 0; i < 100; ++i) {
    slots[i].key = i;
    slots[i].value = i * i;
    persist(&slots[i]);
    slots[i].valid.store(1, std::memory_order_release);
    persist(&slots[i]);
  }
  // Non-temporal stores need a fence and no flush.
  for (int i = 0; i < 8; ++i) _mm_stream_si64(reinterpret_cast<long long*>(&slots[200]) + i, i);
  _mm_sfence();
  // A compare-and-swap orders the flush before it.
  slots[300].key = 1;
  _mm_clwb(&slots[300]);
  uint64_t zero = 0;
  slots[301].valid.compare_exchange_strong(zero, 1);
  persist(&slots[301]);
  // clflush is durable at once.
  slots[302].key = 9;
  _mm_clflush(&slots[302]);
  // msync too.
  slots[303].key = 9;
  msync(slots, 1 << 16, MS_SYNC);
  return 0;
}
