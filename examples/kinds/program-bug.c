/* The program can be started once only: a restart fails whatever the crash left. */
#include "pool.h"

struct pool {
  uint64_t starts;
};

int main(int argc, char** argv) {
  struct pool* pool = open_pool(argv[argc - 1]);
#ifdef FIXED
  pool->starts++;
#else
  if (pool->starts++ != 0) abort();
#endif
  persist(&pool->starts);
  return 0;
}
