// clang-format off
// A record behind a sequence number that is odd while it is written: a reader gets to a store only once a later one of
// the same thread has made the number even. So the thread that stores stands still behind that one. Where the record is
// durable by then, there is no candidate that anything shows.
//
// RUN: %cxx -std=c++20 -O1 -g -pthread %s -o %t
// RUN: rm -rf %t.img %t.findings; not %blackout check --fail-on shown --schedules 2 --findings %t.findings --pm %t.img -- %t %t.img early > %t.out 2>&1
// RUN: FileCheck %s < %t.out
// CHECK: (1) lost: stored here: {{.*}}behind_a_sequence.cpp:[[#]]
// CHECK: schedule: {{.*}}--schedule list,
// CHECK: by one recording: {{[0-9]+ candidates?}}; tried by schedules and crashes: {{[1-9][0-9]*}} shown
// CHECK: SUMMARY: {{.*}}shown
//
// RUN: rm -rf %t.img; %blackout check --fail-on shown --schedules 2 --findings %t.findings --pm %t.img -- %t %t.img right > %t.out 2>&1 || { cat %t.out; exit 1; }
// RUN: FileCheck --check-prefix=RIGHT %s < %t.out
// RIGHT: SUMMARY: {{.*}}tso=off
// clang-format on
#include <string.h>

#include <atomic>
#include <thread>

#include "../record/Inputs/pool.h"

struct Pool {
  alignas(64) uint64_t magic;
  alignas(64) std::atomic<uint64_t> sequence;
  alignas(64) std::atomic<uint64_t> record;
  alignas(64) uint64_t seen;
};

static void persist(const void* p) {
  __asm__ volatile("clwb %0" : : "m"(*static_cast<const char*>(p)));
  __asm__ volatile("sfence" ::: "memory");
}

int main(int, char** argv) {
  auto* pool = static_cast<Pool*>(mapPool(argv[1], 4096));
  if (pool->magic == 7) return pool->seen > pool->record ? 9 : 0;
  pool->magic = 7;
  persist(&pool->magic);
  bool early = strcmp(argv[2], "early") == 0;
  std::thread writer([&] {
    for (uint64_t i = 1; i <= 3; ++i) {
      pool->sequence.fetch_add(1);
      pool->record.store(i, std::memory_order_relaxed);
      if (!early) persist(&pool->record);
      pool->sequence.fetch_add(1);
      persist(&pool->record);
    }
  });
  std::thread reader([&] {
    for (int i = 0; i < 4; ++i) {
      uint64_t before = pool->sequence.load();
      if (before % 2 != 0) continue;
      uint64_t record = pool->record.load(std::memory_order_relaxed);
      if (pool->sequence.load() != before || record <= pool->seen) continue;
      pool->seen = record;
      persist(&pool->seen);
    }
  });
  writer.join();
  reader.join();
}
