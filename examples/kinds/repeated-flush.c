/* Two fields of one line are flushed one by one. */
#include "pool.h"

struct pool {
  uint64_t starts, magic;
};

int main(int argc, char** argv) {
  volatile struct pool* pool = open_pool(argv[argc - 1]);
  pool->magic = 99;
  pool->starts++;
  flush(&pool->starts);
#ifndef FIXED
  flush(&pool->magic);
#endif
  fence();
  return 0;
}
