/* A copy in ordinary memory is flushed instead of the pool. */
#include "pool.h"

struct pool {
  uint64_t starts;
};

int main(int argc, char** argv) {
  struct pool* pool = open_pool(argv[argc - 1]);
  struct pool copy = *pool;
  copy.starts++;
  memcpy(pool, &copy, sizeof copy);
#ifndef FIXED
  flush(&copy);
#endif
  persist(pool);
  return 0;
}
