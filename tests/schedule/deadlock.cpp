// clang-format off
// Two locks in two orders. The recorded run that comes into it ends, and says so; a restart that does is a finding.
//
// RUN: %cxx -std=c++20 -O1 -g -pthread %s -o %t
// RUN: rm -f %t.img
// RUN: not %blackout check --schedule random,1,4 --findings %t.findings --pm %t.img -- %t %t.img > %t.out 2>&1
// RUN: FileCheck %s < %t.out
// CHECK: all threads of the program wait for each other
// CHECK: nobody is left to wake any of its threads
// CHECK: The recorded run ended in a deadlock: thread 1 waits in main (deadlock.cpp:[[#]]); thread 2 waits in {{.*}} (deadlock.cpp:[[#]]).
// CHECK: SUMMARY: {{.*}}1 shown
//
// Under a schedule that lets one thread go on until it waits there is none.
// RUN: rm -f %t.img
// RUN: %blackout record --schedule list --pm %t.img -o %t.trace -- %t %t.img
// clang-format on
#include <mutex>
#include <thread>

#include "../record/Inputs/pool.h"

static std::mutex a, b;

int main(int, char** argv) {
  auto* pool = static_cast<char*>(mapPool(argv[1], 4096));
  std::thread other([=] {
    for (int i = 0; i < 50; ++i) {
      std::lock_guard first(b);
      pool[1] = 1;
      std::lock_guard second(a);
      pool[0] = 1;
    }
  });
  for (int i = 0; i < 50; ++i) {
    std::lock_guard first(a);
    pool[64] = 1;
    std::lock_guard second(b);
    pool[65] = 2;
  }
  other.join();
}
