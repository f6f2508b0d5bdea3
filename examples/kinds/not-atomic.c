/* Two balances change one after the other: a crash in between loses money, whatever is flushed when. */
#include "pool.h"

struct pool {
  LINE uint64_t ready;
  LINE uint64_t from;
  LINE uint64_t to;
  LINE uint64_t moved; /* the fixed version's only state: what was moved so far */
};

int main(int argc, char** argv) {
  volatile struct pool* pool = open_pool(argv[argc - 1]);
  if (pool->ready) return pool->from + pool->to == 100 ? 0 : 1; /* a restart */
  pool->from = 100;
  persist(&pool->from);
  pool->ready = 1;
  persist(&pool->ready);
#ifdef FIXED
  pool->moved = 10; /* the balances are 100 - moved and moved: one store changes both */
  persist(&pool->moved);
#else
  pool->from = 90;
  persist(&pool->from);
  pool->to = 10;
  persist(&pool->to);
#endif
  return 0;
}
