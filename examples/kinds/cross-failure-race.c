/* Two numbers change together, and a restart says what it finds of them. */
#include "pool.h"

struct pool {
  LINE uint64_t low;
  LINE uint64_t high;
};

int main(int argc, char** argv) {
  volatile struct pool* pool = open_pool(argv[argc - 1]);
#ifdef FIXED
  if (pool->low == 0) { /* `high` follows from `low`: one store changes both */
    pool->low = 1;
    persist(&pool->low);
  }
  printf("from %d to %d\n", (int)pool->low, (int)pool->low + 1);
#else
  if (pool->low == 0) {
    pool->low = 1;
    pool->high = 2;
    persist(&pool->high);
    persist(&pool->low);
  }
  printf("from %d to %d\n", (int)pool->low, (int)pool->high);
#endif
  return 0;
}
