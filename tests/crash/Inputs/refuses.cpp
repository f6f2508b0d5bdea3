// A pool whose header must be there before a restart does anything: NAME of the mistake, POOL. The restart refuses
// (exit code 1) a pool without the header, as one that was never made. none; header: the header is not flushed; early:
// it is durable before the count that a restart relies on; fails: the recorded run itself exits with 4.
#include <blackout/blackout.h>
#include <immintrin.h>

#include "Inputs/pool.h"

struct Pool {
  alignas(64) uint64_t header;
  alignas(64) uint64_t count;
  alignas(64) uint64_t value;
};

static void persist(const void* p) {
  _mm_clwb(const_cast<void*>(p));
  _mm_sfence();
}

int main(int, char** argv) {
  auto* pool = static_cast<Pool*>(mapPool(argv[2], sizeof(Pool)));
  bool header = strcmp(argv[1], "header") == 0, early = strcmp(argv[1], "early") == 0;
  if (blackout_recovering()) {
    if (pool->header != 42) {
      fprintf(stderr, "no pool\n");
      return 1;
    }
    return pool->count == 7 ? 0 : 2;
  }
  if (early) {
    pool->header = 42;
    persist(&pool->header);
  }
  pool->count = 7;
  persist(&pool->count);
  if (!early) pool->header = 42;
  if (!early && !header) persist(&pool->header);
  pool->value = 1;
  persist(&pool->value);
  return strcmp(argv[1], "fails") == 0 ? 4 : 0;
}
