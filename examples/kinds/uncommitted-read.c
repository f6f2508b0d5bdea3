/* `version` vouches for `data`, and is set while the data is not durable. */
#include <blackout/blackout.h>

#include "pool.h"

struct pool {
  LINE uint64_t version;
  LINE uint64_t data;
};

int main(int argc, char** argv) {
  volatile struct pool* pool = open_pool(argv[argc - 1]);
  blackout_commit_var((void*)&pool->version, sizeof pool->version);
  blackout_commit_range((void*)&pool->version, (void*)&pool->data, sizeof pool->data);
  if (pool->version != 0) {
    if (pool->data > 1000) printf("much\n"); /* the restart reads the data */
    return 0;
  }
  pool->data = 5;
#ifdef FIXED
  persist(&pool->data);
#endif
  pool->version = 1;
  persist(&pool->version);
  persist(&pool->data);
  return 0;
}
