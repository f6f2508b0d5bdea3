// clang-format off
// What a program may answer is the set of all interleavings of its steps, no more and no less: two threads that each set
// a flag and look at the other's can't both see nothing; two increments that are not atomic may lose one; a counter
// under a lock never does. Forty schedules find all of it, and one schedule always gives the same.
//
// RUN: %cxx -std=c++20 -O1 -pthread %s -o %t
// RUN: rm -f %t.all; for s in $(seq 40); do %blackout record --schedule random,$s,3 --pm %t.img -o %t.trace -- %t %t.img >> %t.all 2> %t.err || exit 1; done
// RUN: sort -u %t.all | FileCheck %s
// CHECK: flags 01 lost 0 locked 2
// CHECK: flags 01 lost 1 locked 2
// CHECK: flags 10 lost 0 locked 2
// CHECK: flags 10 lost 1 locked 2
// CHECK: flags 11
// RUN: not grep -q "flags 00" %t.all
// RUN: not grep -q "locked [013]" %t.all
//
// RUN: rm -f %t.one; for i in $(seq 10); do %blackout record --schedule random,5,3 --pm %t.img -o %t.trace -- %t %t.img >> %t.one 2> %t.err; done
// RUN: sort -u %t.one | wc -l | grep -qx 1
//
// Priorities: whoever becomes the lowest in the middle of its steps gives the turn to the highest, so that more such
// moments are more switches.
// RUN: rm -f %t.by1 %t.by6; for s in 1 2 3 4 5 6; do for d in 1 6; do %blackout record --schedule priorities,$s,$d,40 --pm %t.img -o %t.trace -- %t %t.img > %t.out 2>&1 || exit 1; %blackout trace %t.trace --kind switch >> %t.by$d; done; done
// RUN: test $(wc -l < %t.by6) -gt $(($(wc -l < %t.by1) + 10))
//
// A list of switches: the second thread before the first one has begun.
// RUN: %blackout record --schedule 'list,1>3' --pm %t.img -o %t.trace -- %t %t.img > %t.list
// RUN: %blackout trace %t.trace | FileCheck --check-prefix=LIST %s
// LIST: switch {{.*}} to 3
//
// RUN: not %blackout record --schedule sometimes --pm %t.img -o %t.trace -- %t %t.img 2>&1 | FileCheck --check-prefix=WRONG %s
// WRONG: no such schedule: sometimes; there are: system; random,SEED
// clang-format on
#include <stdio.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "../record/Inputs/pool.h"

int main(int, char** argv) {
  auto* pool = static_cast<char*>(mapPool(argv[1], 4096));
  std::atomic<int> a{0}, b{0}, count{0}, locked{0};
  std::mutex m;
  int sawA = 0, sawB = 0;
  auto add = [&] {
    int now = count.load();
    count.store(now + 1);
    std::lock_guard l(m);
    now = locked.load();
    pool[0] = char(now);
    locked.store(now + 1);
  };
  std::thread one([&] {
    a = 1;
    sawB = b;
    add();
  });
  std::thread two([&] {
    b = 1;
    sawA = a;
    add();
  });
  one.join();
  two.join();
  printf("flags %d%d lost %d locked %d\n", sawA, sawB, 2 - count.load(), locked.load());
}
