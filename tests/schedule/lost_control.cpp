// clang-format off
// What can't be followed ends control, and the result is inconclusive if a schedule was asked for: a spin on ordinary memory in plain code. The
// program itself still comes to its end. A spin that says so (pause), and a thread that waits for a pipe, give their turn away.
//
// RUN: %plain-cxx -std=c++20 -O1 -pthread %s -o %t
// RUN: rm -f %t.img; %blackout check --schedule random,1 --pm %t.img -- %t %t.img spin > %t.out 2>&1 || [ $? = 3 ]
// RUN: FileCheck %s < %t.out
// CHECK: Control over the program's threads was lost
// CHECK: inconclusive
// RUN: rm -f %t.img; %blackout check --schedule system --fail-on shown --pm %t.img -- %t %t.img spin > %t.out 2>&1 || [ $? = 3 ]
// RUN: not grep -q "Control over" %t.out
// RUN: for way in pause pipe poll; do for n in 1 2; do rm -f %t.img; %blackout record --schedule random,1,4 --pm %t.img -o %t.trace -- %t %t.img $way > %t.out 2>&1 || { cat %t.out; exit 1; }; %blackout trace %t.trace | grep -v thread-begin > %t.text$n; done; cmp %t.text1 %t.text2 || exit 1; %blackout check --no-explore --from-trace %t.trace > %t.out 2>&1; not grep "Control over" %t.out || exit 1; done
// clang-format on
#include <immintrin.h>
#include <poll.h>
#include <string.h>

#include <thread>

#include "../record/Inputs/pool.h"

int main(int, char** argv) {
  auto* pool = static_cast<char*>(mapPool(argv[1], 4096));
  if (pool[0] == 2) return 0;
  static volatile bool go = false;
  int ends[2];
  if (pipe(ends) != 0) return 1;
  bool spins = strcmp(argv[2], "spin") == 0, pauses = strcmp(argv[2], "pause") == 0;
  bool polls = strcmp(argv[2], "poll") == 0;
  std::thread waits([=] {
    char byte = 0;
    pollfd one{ends[0], POLLIN, 0};
    if (polls && poll(&one, 1, -1) != 1) exit(1);
    if (spins)
      while (!go) {
      }
    else if (pauses)
      while (!go) _mm_pause();
    else if (read(ends[0], &byte, 1) != 1)
      exit(1);
    pool[0] = 1;
  });
  std::thread other([=] {
    for (int i = 0; i < 1000; ++i) pool[64] = char(i);
  });
  other.join();
  go = true;
  if (write(ends[1], "x", 1) != 1) return 1;
  waits.join();
  pool[0] = 2;
}
