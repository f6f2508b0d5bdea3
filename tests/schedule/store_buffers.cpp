// clang-format off
// One thread says that it comes to flush, and flushes another one's data; that one leaves it to the first if it has not
// said so yet. Without a fence between the two, the flush runs while what was said still waits in the store buffer: both
// leave the data to the other. No schedule without store buffers shows it; with them one does, and says so; with an
// mfence none does.
//
// RUN: %cxx -std=c++20 -O1 -g -pthread %s -o %t
// RUN: rm -rf %t.img %t.findings; %blackout check --fail-on shown --preemptions 1 --findings %t.findings --pm %t.img -- %t %t.img > %t.out 2>&1 || { cat %t.out; exit 1; }
// RUN: FileCheck --check-prefix=OFF %s < %t.out
// OFF: SUMMARY: {{.*}}tso=off
//
// RUN: rm -rf %t.img; not %blackout check --model x86:tso=on --fail-on shown --preemptions 0 --schedules 30 --findings %t.findings --pm %t.img -- %t %t.img > %t.out 2>&1
// RUN: FileCheck %s < %t.out
// CHECK: {{^.*}}store_buffers.cpp:{{.*}}error: {{.*}}
// CHECK: schedule: {{.*}}--schedule list/0,{{.*}}
// CHECK: SUMMARY: {{.*}}shown{{.*}}tso=on
//
// The schedule that it names shows it again.
// RUN: sed -n 's/.*--schedule \(list[^ ]*\).*/\1/p' %t.out | head -1 > %t.schedule
// RUN: rm -rf %t.img; not %blackout check --model x86:tso=on --fail-on shown --schedule "$(cat %t.schedule)" --findings %t.findings --pm %t.img -- %t %t.img 2>&1 | FileCheck --check-prefix=AGAIN %s
// AGAIN: SUMMARY: {{.*}}[[#]] shown
//
// RUN: rm -rf %t.img; not %blackout check --model x86:tso=on --fail-on shown --preemptions 0 --schedules 30 --findings %t.findings --pm %t.img -- %t %t.img fenced > %t.out 2>&1
// RUN: FileCheck --check-prefix=FENCED %s < %t.out
// FENCED-NOT: shown:
// FENCED: 30 were tried, and there are more
// FENCED: SUMMARY: {{.*}}tso=on
//
// Code that was not built with blackout-clang has no store buffers, and that is said.
// RUN: %plain-cxx -std=c++20 -O1 -g -pthread %s -o %t.plain
// RUN: rm -rf %t.img; not %blackout check --model x86:tso=on --fail-on shown --findings %t.findings --pm %t.img -- %t.plain %t.img 2>&1 | FileCheck --check-prefix=PLAIN %s
// PLAIN: nothing waited in a store buffer (tso=on)
// PLAIN: SUMMARY: {{.*}}inconclusive
// clang-format on
#include <immintrin.h>

#include <atomic>
#include <thread>

#include "../record/Inputs/pool.h"

struct alignas(64) Word {
  std::atomic<uint64_t> value;
};
struct Pool {
  Word magic, comes, data, flushed, left;
};

static void persist(const void* p) {
  __asm__ volatile("clwb %0" : : "m"(*static_cast<const char*>(p)));
  __asm__ volatile("sfence" ::: "memory");
}
static void set(Word& w, uint64_t value) { w.value.store(value, std::memory_order_relaxed); }

int main(int argc, char** argv) {
  auto* pool = static_cast<Pool*>(mapPool(argv[1], 4096));
  bool fenced = argc > 2;
  if (pool->magic.value == 7) return pool->flushed.value != 0 && pool->left.value != 0 && pool->data.value == 0 ? 9 : 0;
  set(pool->magic, 7);
  persist(&pool->magic);
  std::thread flusher([pool, fenced] {
    set(pool->comes, 1);
    if (fenced) _mm_mfence();
    persist(&pool->data);
    set(pool->flushed, 1);
    persist(&pool->flushed);
  });
  std::thread writer([pool] {
    set(pool->data, 1);
    _mm_mfence();
    if (pool->comes.value.load(std::memory_order_relaxed) != 0) return persist(&pool->data);
    set(pool->left, 1);
    persist(&pool->left);
  });
  flusher.join();
  writer.join();
}
