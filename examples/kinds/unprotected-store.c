/* A deposit: the balance is logged, the number of deposits is not. */
/* check: blackout check --mechanisms unprotected-store.toml --pm pool -- ./program pool */
#include <blackout/blackout.h>

#include "pool.h"

struct entry {
  uint64_t valid, old;
};
struct pool {
  LINE uint64_t balance;
  LINE uint64_t deposits;
  LINE struct entry entry;
};

static volatile struct pool* pool;

static void set_valid(uint64_t valid) {
  pool->entry.valid = valid;
  persist(&pool->entry);
}

static void deposit(uint64_t amount) {
  blackout_op_begin("deposit", amount);
  pool->entry.old = pool->balance;
  persist(&pool->entry);
  set_valid(1);
  pool->balance += amount;
  persist(&pool->balance);
  set_valid(0);
  pool->deposits++;
  persist(&pool->deposits);
  blackout_op_end(0);
}

int main(int argc, char** argv) {
  pool = open_pool(argv[argc - 1]);
  if (pool->entry.valid) { /* a restart after a crash in the middle */
    pool->balance = pool->entry.old;
    persist(&pool->balance);
    set_valid(0);
  }
#ifdef FIXED
  pool->deposits = pool->balance / 10;
  persist(&pool->deposits);
#endif
  if (blackout_recovering()) blackout_recovered(pool->balance == 10);
  if (pool->balance == 0) deposit(10);
  return pool->deposits > 1;
}
