/* The record becomes valid first, and its contents are made durable afterwards. */
#include "pool.h"

struct pool {
  LINE uint64_t number;
  LINE uint64_t valid;
};

int main(int argc, char** argv) {
  volatile struct pool* pool = open_pool(argv[argc - 1]);
  if (pool->valid) return pool->number == 42 ? 0 : 1; /* a restart */
#ifdef FIXED
  pool->number = 42;
  persist(&pool->number);
  pool->valid = 1;
  persist(&pool->valid);
#else
  pool->valid = 1;
  persist(&pool->valid);
  pool->number = 42;
  persist(&pool->number);
#endif
  return 0;
}
