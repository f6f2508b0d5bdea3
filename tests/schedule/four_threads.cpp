// clang-format off
// Four threads, one mistake: ten checks give the same findings, byte for byte, whatever else the machine does, and at
// any --jobs. Several schedules are one report, and say under which a finding came.
//
// RUN: %cxx -std=c++20 -O1 -g -pthread %s -o %t
// RUN: for i in $(seq 10); do rm -rf %t.img %t.findings; %blackout check --jobs $((i % 3 + 1)) --findings %t.findings --pm %t.img -- %t %t.img > %t.raw 2>&1; grep -v "a restart takes" %t.raw > %t.out$i; done
// RUN: for i in $(seq 2 10); do cmp %t.out1 %t.out$i || exit 1; done
// RUN: FileCheck %s < %t.out1
// CHECK: shown: {{.*}}missing-flush
// CHECK-NOT: schedule:
// CHECK: SUMMARY: {{.*}}1 shown
//
// RUN: not %blackout check --schedules 6 --findings %t.findings --pm %t.img -- %t %t.img 2>&1 | FileCheck --check-prefix=SIX %s
// SIX: shown: {{.*}}missing-flush
// SIX: schedule: {{.*}}--schedule random,1,64
// SIX: The program ran under 6 schedules
// SIX: SUMMARY: {{.*}}1 shown
//
// One thread has one schedule.
// RUN: not %blackout check --schedules 6 --findings %t.findings --pm %t.img -- %t %t.img alone 2>&1 | FileCheck --check-prefix=ONE %s
// ONE: The program has one thread, so there is one schedule.
// clang-format on
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "../record/Inputs/pool.h"

struct Pool {
  uint64_t magic;
  alignas(64) struct alignas(64) {
    uint64_t value;
  } slot[16];
  alignas(64) uint64_t count;
};

static void persist(const void* p) {
  __asm__ volatile("clwb %0" : : "m"(*static_cast<const char*>(p)));
  __asm__ volatile("sfence" ::: "memory");
}

int main(int argc, char** argv) {
  auto* pool = static_cast<Pool*>(mapPool(argv[1], 4096));
  if (pool->magic == 7) {
    uint64_t there = 0;
    for (auto& s : pool->slot) there += s.value != 0 ? 1 : 0;
    return pool->count > there ? 9 : 0;
  }
  pool->magic = 7;
  persist(&pool->magic);
  std::mutex m;
  auto work = [&](int k) {
    for (int i = 0; i < 4; ++i) {
      std::lock_guard l(m);
      auto& slot = pool->slot[k * 4 + i];
      slot.value = uint64_t(k * 10 + i + 1);
      if (k != 2 || i != 3) persist(&slot);
      pool->count++;
      persist(&pool->count);
    }
  };
  if (argc > 2) {
    work(2);
    return 0;
  }
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) threads.emplace_back(work, k);
  for (auto& t : threads) t.join();
}
