/* The last word that the program stores is never flushed. */
#include "pool.h"

struct pool {
  LINE uint64_t starts;
  LINE uint64_t last_exit;
};

int main(int argc, char** argv) {
  volatile struct pool* pool = open_pool(argv[argc - 1]);
  pool->starts++;
  persist(&pool->starts);
  pool->last_exit = 1;
#ifdef FIXED
  persist(&pool->last_exit);
#endif
  return 0;
}
