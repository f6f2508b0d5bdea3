/* A line is flushed to which nothing was stored. */
#include "pool.h"

struct pool {
  LINE uint64_t starts;
  LINE uint64_t reserved;
};

int main(int argc, char** argv) {
  volatile struct pool* pool = open_pool(argv[argc - 1]);
  pool->starts++;
  flush(&pool->starts);
#ifndef FIXED
  flush(&pool->reserved);
#endif
  fence();
  return 0;
}
