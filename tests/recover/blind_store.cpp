// A restart that stores anew by xchg what it does not want to know (a sequentially consistent store, an exchange whose
// result nobody takes) does not tell apart what a crash left there: 200 values that may have survived are one restart.
// One that takes the result does.
// RUN: %cxx -std=c++20 -O1 -g -I%include %s -o %t && rm -f %t.img
// RUN: for m in store exchange; do %blackout check --detect=none --pm %t.img -- %t %t.img $m > %t.out 2>&1 || { cat %t.out; exit 1; }; \
// RUN:   FileCheck %s < %t.out || { echo $m; exit 1; }; done
// CHECK: restarts: {{ *[0-9]}} of
// RUN: not %blackout check --detect=none --pm %t.img -- %t %t.img result > %t.out 2>&1
// RUN: FileCheck --check-prefix=RESULT %s < %t.out
// RESULT: exits with 5
// RESULT: SUMMARY: blackout: 1 shown
#include <blackout/blackout.h>
#include <string.h>

#include <atomic>
#include <cstdint>

#include "../record/Inputs/pool.h"

int main(int, char** argv) {
  auto* pool = static_cast<char*>(mapPool(argv[1], 4096));
  auto& hint = *reinterpret_cast<std::atomic<std::uint64_t>*>(pool + 64);
  if (!blackout_recovering()) {
    pool[0] = 1;
    for (std::uint64_t i = 1; i <= 200; ++i) hint.store(i, std::memory_order_relaxed);
    return 0;
  }
  if (pool[0] > 1) return 7;
  if (strcmp(argv[2], "store") == 0) hint.store(7);
  if (strcmp(argv[2], "exchange") == 0) hint.exchange(7);
  if (strcmp(argv[2], "result") == 0) return hint.exchange(7) == 150 ? 5 : 0;
  return hint.load() == 7 ? 0 : 6;
}
