// clang-format off
// Restarts have no store buffers. Where their threads store while others could go on, that is said and the result is
// inconclusive; where one of them runs at a time buffers make no difference.
//
// RUN: %cxx -std=c++20 -O1 -g -pthread %s -o %t
// RUN: rm -rf %t.img; not %blackout check --model x86:tso=on --findings %t.findings --pm %t.img --recover "%t %t.img together" -- %t %t.img > %t.out 2>&1
// RUN: FileCheck --check-prefix=TOGETHER %s < %t.out
// TOGETHER: inconclusive: Restarts have no store buffers (tso=on), and in [[#]] of them a thread stored to persistent memory while another one could go on
// TOGETHER: SUMMARY: blackout: inconclusive, nothing found;
//
// RUN: rm -rf %t.img; %blackout check --model x86:tso=on --findings %t.findings --pm %t.img --recover "%t %t.img apart" -- %t %t.img > %t.out 2>&1 || { cat %t.out; exit 1; }
// RUN: FileCheck --check-prefix=CLEAN --implicit-check-not "no store buffers (tso=on)" %s < %t.out
// RUN: rm -rf %t.img; %blackout check --findings %t.findings --pm %t.img --recover "%t %t.img together" -- %t %t.img > %t.out 2>&1 || { cat %t.out; exit 1; }
// RUN: FileCheck --check-prefix=CLEAN --implicit-check-not "no store buffers (tso=on)" %s < %t.out
// CLEAN: SUMMARY: blackout: no findings;
// clang-format on
#include <atomic>
#include <cstring>
#include <thread>

#include "../record/Inputs/pool.h"

struct alignas(64) Word {
  std::atomic<uint64_t> value;
};
struct Pool {
  Word data, valid, repaired[2];
};

static void persist(const void* p) {
  __asm__ volatile("clwb %0" : : "m"(*static_cast<const char*>(p)));
  __asm__ volatile("sfence" ::: "memory");
}

int main(int argc, char** argv) {
  auto* pool = static_cast<Pool*>(mapPool(argv[1], 4096));
  if (argc == 2) {
    pool->data.value.store(4711, std::memory_order_relaxed);
    persist(&pool->data);
    pool->valid.value.store(1, std::memory_order_relaxed);
    persist(&pool->valid);
    return 0;
  }
  auto repair = [pool](int which) {
    if (pool->valid.value.load(std::memory_order_relaxed) == 0) return;
    pool->repaired[which].value.store(pool->data.value.load(std::memory_order_relaxed), std::memory_order_relaxed);
    persist(&pool->repaired[which]);
  };
  bool together = strcmp(argv[2], "together") == 0;
  std::thread first(repair, 0);
  if (!together) first.join();
  std::thread second(repair, 1);
  if (together) first.join();
  second.join();
  bool right = pool->valid.value == 0 || (pool->repaired[0].value == 4711 && pool->repaired[1].value == 4711);
  return right ? 0 : 9;
}
