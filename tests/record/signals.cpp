// A signal handler that stores to PM: its stores are recorded, and the few that come in the middle of
// another event are counted and make the result inconclusive instead of wrong.
//
// RUN: %cxx -O2 %s -o %t && rm -f %t.img
// RUN: %blackout record --pm %t.img -o %t.trace -- %t %t.img || test $? -eq 3
// RUN: %blackout trace --count-by kind %t.trace | FileCheck %s
// CHECK: store
#include <signal.h>
#include <sys/time.h>

#include "Inputs/pool.h"

static volatile uint64_t* pool;
static volatile int ticks;

static void tick(int) {
  pool[512 + ticks % 64] = uint64_t(ticks);
  ++ticks;
}

int main(int, char** argv) {
  pool = static_cast<volatile uint64_t*>(mapPool(argv[1], 8192));
  signal(SIGALRM, tick);
  itimerval often{{0, 500}, {0, 500}};
  setitimer(ITIMER_REAL, &often, nullptr);
  for (uint64_t i = 0; ticks < 200; ++i) pool[i % 512] = i;
  itimerval off{};
  setitimer(ITIMER_REAL, &off, nullptr);
}
