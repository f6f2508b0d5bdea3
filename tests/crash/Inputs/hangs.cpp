// WHERE POOL: something waits for ever that should not. restart: a restart that finds the first value without the
// second; found: the same, and one that finds neither the third, which is lost before that, fails; recording: the
// recorded run, which does not end on SIGTERM either, and says so by a file named "ready".
#include <blackout/blackout.h>
#include <immintrin.h>
#include <signal.h>
#include <unistd.h>

#include "Inputs/pool.h"

struct Pool {
  alignas(64) uint64_t ready;
  alignas(64) uint64_t third;
  alignas(64) uint64_t first;
  alignas(64) uint64_t second;
};

static void persist(const void* p) {
  _mm_clwb(const_cast<void*>(p));
  _mm_sfence();
}

int main(int, char** argv) {
  auto* pool = static_cast<Pool*>(mapPool(argv[2], sizeof(Pool)));
  if (blackout_recovering()) {
    if (pool->ready == 1 && pool->third == 0) return 1;
    volatile bool wait = pool->first == 1 && pool->second == 0;
    for (volatile uint64_t turns = 0; wait; turns = turns + 1) continue;
    return 0;
  }
  if (strcmp(argv[1], "found") == 0) {
    pool->third = 1;
    pool->ready = 1;
    persist(&pool->ready);
    persist(&pool->third);
  }
  pool->first = 1;
  persist(&pool->first);
  if (strcmp(argv[1], "recording") == 0) {
    signal(SIGTERM, SIG_IGN);
    close(creat("ready", 0600));
    for (;;) sleep(1000);
  }
  pool->second = 1;
  persist(&pool->second);
}
