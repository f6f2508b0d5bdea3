// clang-format off
// Threads that spin and wait for each other: nobody is blocked, and nobody gets on. A recording that comes into it ends without a verdict and
// says where each thread is; a restart that does is a finding that names all of its threads. A spin that is waited for in earnest is neither.
//
// RUN: %cxx -std=c++20 -O1 -g -pthread -I%include %s -o %t
// RUN: rm -f %t.img; %blackout check --schedule list --findings %t.findings --pm %t.img -- %t %t.img recording > %t.out 2>&1 || [ $? = 3 ]
// RUN: FileCheck --check-prefix=RECORDING %s < %t.out
// RECORDING: all threads of the program that could go on spin
// RECORDING: The recorded run was ended because all threads that could go on spin: thread 1 waits in main (livelock.cpp:[[#]]); thread 2 spins in {{.*}} (livelock.cpp:[[#]]){{.*}}; thread 3 spins in {{.*}} (livelock.cpp:[[#]])
// RECORDING: SUMMARY: blackout: inconclusive
//
// RUN: rm -f %t.img; not %blackout check --detect=none --steps 200000 --json %t.json --findings %t.findings --pm %t.img -- %t %t.img restart > %t.out 2>&1
// RUN: FileCheck --check-prefix=RESTART %s < %t.out
// RESTART: hangs: all of its threads that could go on spin
// RESTART: evidence:  Thread 1 waits for another thread in {{.*}}main (livelock.cpp:[[#]])
// RESTART: evidence:  Thread 2 waits for others by spinning in {{.*}}(livelock.cpp:[[#]])
// RESTART: evidence:  Thread 3 waits for others by spinning in {{.*}}(livelock.cpp:[[#]])
// RESTART: SUMMARY: blackout: 1 shown
//
// RUN: rm -f %t.img; %blackout check --detect=none --findings %t.findings --pm %t.img -- %t %t.img ends > %t.out 2>&1 || { cat %t.out; exit 1; }
// clang-format on
#include <blackout/blackout.h>
#include <string.h>

#include <atomic>
#include <thread>

#include "../record/Inputs/pool.h"

// Each waits until the other one has been polite.
static std::atomic<int> first{1}, second{1}, counted{0};

static void spin(std::atomic<int>& mine, std::atomic<int>& others, bool ends) {
  if (ends) {
    // Long, but somebody gets on.
    for (int i = 0; i < 300000; ++i) counted.fetch_add(1);
    mine = 0;
  }
  while (others != 0) {
  }
}

static void both(bool ends) {
  first = second = 1;
  std::thread a([=] { spin(first, second, ends); });
  std::thread b([=] { spin(second, first, ends); });
  a.join();
  b.join();
}

int main(int, char** argv) {
  auto* pool = static_cast<volatile char*>(mapPool(argv[1], 4096));
  bool restarts = strcmp(argv[2], "restart") == 0, ends = strcmp(argv[2], "ends") == 0;
  if (blackout_recovering()) {
    if (pool[0] > 1) return 1;
    if (restarts && pool[0] == 1 && pool[64] == 0) both(false);
    if (ends) both(true);
    return 0;
  }
  pool[0] = 1;
  pool[64] = 1;
  if (!restarts) both(ends);
}
