// clang-format off
// One recording says which stores another thread may see before they are durable; a schedule and a crash then show what
// comes of it. Here a reader without a lock notes that it has seen the flag, durably, while the flag is not: after a
// crash the note is there and the flag is not. The usual schedule does not come by that; one recording is enough to
// find it. With the note made under the lock there is no candidate; where the reader makes the flag durable first it is
// refuted.
//
// RUN: %cxx -std=c++20 -O1 -g -pthread %s -o %t
// RUN: rm -rf %t.img %t.findings; not %blackout check --schedules 2 --findings %t.findings --pm %t.img -- %t %t.img free > %t.out 2>&1
// RUN: FileCheck %s < %t.out
// CHECK: shown: {{.*}}wrong-order
// CHECK: (1) lost: stored here: {{.*}}candidates.cpp:[[#]]
// CHECK: schedule: {{.*}}--schedule list,{{[0-9ns]+}}>{{[0-9]+}}{{$}}
// CHECK: by one recording: 1 candidate; tried by schedules and crashes: 1 shown, 0 refuted
// CHECK: SUMMARY: {{.*}}1 shown
//
// The schedule that it names, of one switch, shows it again.
// RUN: sed -n 's/.*--schedule \(list,[^ ]*\).*/\1/p' %t.out | head -1 > %t.schedule
// RUN: rm -rf %t.img; not %blackout check --schedule "$(cat %t.schedule)" --findings %t.findings --pm %t.img -- %t %t.img free 2>&1 | FileCheck --check-prefix=AGAIN %s
// AGAIN: SUMMARY: {{.*}}1 shown
//
// One schedule finds nothing.
// RUN: rm -rf %t.img; %blackout check --fail-on shown --findings %t.findings --pm %t.img -- %t %t.img free > %t.out 2>&1
//
// RUN: rm -rf %t.img; %blackout check --schedules 2 --findings %t.findings --pm %t.img -- %t %t.img locked > %t.out 2>&1 || { cat %t.out; exit 1; }
// RUN: FileCheck --check-prefix=LOCKED %s < %t.out
// LOCKED: by one recording: 0 candidates
// RUN: rm -rf %t.img; %blackout check --fail-on shown --schedules 2 --findings %t.findings --pm %t.img -- %t %t.img helps > %t.out 2>&1 || { cat %t.out; exit 1; }
// RUN: FileCheck --check-prefix=HELPS %s < %t.out
// HELPS: by one recording: 1 candidate; {{.*}}: 0 shown, 1 refuted
//
// A run that dies before it gets there is none in which the other thread waits: the result is inconclusive, and names
// the schedule.
// RUN: rm -rf %t.img; not %blackout check --fail-on shown --schedules 2 --findings %t.findings --pm %t.img -- %t %t.img dies > %t.out 2>&1
// RUN: FileCheck --check-prefix=DIES %s < %t.out
// DIES-DAG: The program itself ended with signal SIGABRT (Aborted), without a simulated crash.
// DIES-DAG: by one recording: 1 candidate; {{.*}}: 0 shown, 0 refuted, 0 where {{.*}}, 1 not decided
// DIES-DAG: 1 run that tried a candidate did not end well, the first under --schedule {{.*}}>
//
// There is no exploration to go on from.
// RUN: touch %t.saved; not %blackout check --schedules 2 --resume %t.saved --findings %t.findings --pm %t.img -- %t %t.img free 2>&1 | FileCheck --check-prefix=RESUME %s
// RESUME: --resume: there is an exploration of each schedule, and none to go on from; leave it out
//
// The same by traps.
// RUN: %plain-cxx -std=c++20 -O1 -g -pthread %s -o %t.plain
// RUN: rm -rf %t.img; not %blackout check --schedules 2 --findings %t.findings --pm %t.img -- %t.plain %t.img free > %t.out 2>&1
// RUN: grep -q "SUMMARY: .*[1-9] shown" %t.out || { cat %t.out; exit 1; }
// clang-format on
#include <string.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "../record/Inputs/pool.h"

struct Pool {
  alignas(64) std::atomic<uint64_t> flag;
  alignas(64) std::atomic<uint64_t> note;
};

static void persist(const void* p) {
  __asm__ volatile("clwb %0" : : "m"(*static_cast<const char*>(p)));
  __asm__ volatile("sfence" ::: "memory");
}

int main(int, char** argv) {
  auto* pool = static_cast<Pool*>(mapPool(argv[1], 4096));
  if (pool->note != 0) return pool->flag != 0 ? 0 : 9;
  if (pool->flag != 0) return 0;
  bool locks = strcmp(argv[2], "locked") == 0, helps = strcmp(argv[2], "helps") == 0;
  bool dies = strcmp(argv[2], "dies") == 0;
  std::mutex m;
  std::atomic<bool> busy = false;
  std::thread writer([&] {
    std::lock_guard l(m);
    busy = true;
    pool->flag = 1;
    persist(&pool->flag);
    busy = false;
  });
  std::thread reader([&] {
    for (int i = 0; i < 20; ++i) {
      std::unique_lock l(m, std::defer_lock);
      if (locks) l.lock();
      if (dies && busy) abort();
      if (pool->flag == 0) continue;
      if (helps) persist(&pool->flag);
      pool->note = 1;
      persist(&pool->note);
      break;
    }
  });
  writer.join();
  reader.join();
}
