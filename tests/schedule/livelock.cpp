// clang-format off
// Threads that spin and wait for each other: nobody is blocked, and nobody gets on. A recording that comes into it ends without a verdict and
// says where each thread is; a restart that does can't be judged, for a loop may count. A spin that is waited for in earnest is neither.
//
// RUN: %cxx -std=c++20 -O1 -g -pthread -I%include %s -o %t
// RUN: rm -f %t.img; %blackout check --schedule list --findings %t.findings --pm %t.img -- %t %t.img recording > %t.out 2>&1 || [ $? = 3 ]
// RUN: FileCheck --check-prefix=RECORDING %s < %t.out
// RECORDING: all threads of the program that could go on spin
// RECORDING: The recorded run was ended because all threads that could go on spin: thread 1 waits in main (livelock.cpp:[[#]]); thread 2 spins in {{.*}} (livelock.cpp:[[#]]){{.*}}; thread 3 spins in {{.*}} (livelock.cpp:[[#]])
// RECORDING: SUMMARY: blackout: inconclusive
//
// RUN: rm -f %t.img; %blackout check --detect=none --steps 200000 --findings %t.findings --pm %t.img -- %t %t.img restart > %t.out 2>&1 || [ $? = 3 ]
// RUN: FileCheck --check-prefix=RESTART %s < %t.out
// RESTART: could not be judged: all of its threads that could go on spin
// RESTART-NOT: shown:
// RESTART: SUMMARY: blackout: inconclusive
//
// What is no livelock: a long look at persistent memory, in which each word is another one; locks that nobody else wants, around work that is
// not followed; a spin that a sleeping thread ends.
// RUN: for m in scan locks sleeper; do rm -f %t.img; %blackout check --detect=none --steps 2000000 --findings %t.findings --pm %t.img -- %t %t.img $m > %t.out 2>&1 || { echo $m; cat %t.out; exit 1; }; done
//
// RUN: rm -f %t.img; %blackout check --detect=none --findings %t.findings --pm %t.img -- %t %t.img ends > %t.out 2>&1 || { cat %t.out; exit 1; }
// clang-format on
#include <blackout/blackout.h>
#include <string.h>
#include <unistd.h>

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

constexpr int kSize = 4 << 20;

static void scan(const volatile char* pool) {
  std::thread reader([=] {
    unsigned long sum = 0;
    for (int at = 0; at < kSize; at += 8) sum += *reinterpret_cast<const volatile unsigned long*>(pool + at);
    counted = sum > 2 ? 1 : 0;
  });
  reader.join();
}

static void locks() {
  std::thread works([] {
    static std::atomic_flag lock;
    unsigned work = 1;
    for (int i = 0; i < 300000; ++i) {
      while (lock.test_and_set()) {
      }
      work = work * 7 + 1;
      lock.clear();
    }
    counted = static_cast<int>(work & 1);
  });
  works.join();
}

static void sleeper() {
  static std::atomic<int> flag;
  flag = 0;
  std::thread spins([] {
    while (flag == 0) {
    }
  });
  usleep(1000);
  flag = 1;
  spins.join();
}

int main(int, char** argv) {
  auto* pool = static_cast<volatile char*>(mapPool(argv[1], kSize));
  auto is = [&](const char* mode) { return strcmp(argv[2], mode) == 0; };
  if (is("scan")) scan(pool);
  if (is("locks")) locks();
  if (is("sleeper")) sleeper();
  if (is("scan") || is("locks") || is("sleeper")) {
    if (blackout_recovering()) return pool[0] > 1;
    pool[0] = 1;
    return 0;
  }
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
