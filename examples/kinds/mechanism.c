/* An undo log of one entry; the balance changes before the entry is durable. */
/* check: blackout check --mechanisms mechanism.toml --pm pool -- ./program pool */
#include "pool.h"

struct entry {
  uint64_t valid, old;
};
struct pool {
  LINE uint64_t balance;
  LINE struct entry entry;
};

static volatile struct pool* pool;

static void set_valid(uint64_t valid) {
  pool->entry.valid = valid;
  persist(&pool->entry);
}

int main(int argc, char** argv) {
  pool = open_pool(argv[argc - 1]);
  if (pool->entry.valid) { /* a restart after a crash in the middle */
    pool->balance = pool->entry.old;
    persist(&pool->balance);
    set_valid(0);
  }
  if (pool->balance == 0) {
    pool->entry.old = pool->balance;
    persist(&pool->entry);
#ifdef FIXED
    set_valid(1);
    pool->balance = 10;
#else
    pool->balance = 10;
    set_valid(1);
#endif
    persist(&pool->balance);
    set_valid(0);
  }
  return 0;
}
