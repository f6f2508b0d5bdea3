/* A record becomes valid while its contents were never flushed. */
#include "pool.h"

struct pool {
  LINE uint64_t number;
  LINE uint64_t valid;
};

int main(int argc, char** argv) {
  volatile struct pool* pool = open_pool(argv[argc - 1]);
  if (pool->valid) return pool->number == 42 ? 0 : 1; /* a restart */
  pool->number = 42;
#ifdef FIXED
  persist(&pool->number);
#endif
  pool->valid = 1;
  persist(&pool->valid);
  return 0;
}
