/* Recovery itself is wrong: it takes back an entry that an interrupted step had not made yet. */
#include "pool.h"

struct pool {
  LINE uint64_t step; /* 1: an entry is about to be made; 2: all is done */
  LINE uint64_t entries;
};

int main(int argc, char** argv) {
  volatile struct pool* pool = open_pool(argv[argc - 1]);
  if (pool->step == 1) { /* a restart after a crash in the middle */
#ifdef FIXED
    if (pool->entries != 0) pool->entries--;
#else
    pool->entries--;
#endif
    persist(&pool->entries);
    if (pool->entries > 3) abort();
  }
  pool->step = 1;
  persist(&pool->step);
  pool->step = 2;
  persist(&pool->step);
  return 0;
}
