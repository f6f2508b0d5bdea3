/* `version` counts versions of `data`, but the third version has the data of the first. */
#include <blackout/blackout.h>

#include "pool.h"

struct pool {
  LINE uint64_t version;
  LINE uint64_t data;
};

static volatile struct pool* pool;

static void set_version(uint64_t version) {
  pool->version = version;
  persist(&pool->version);
}
static void set_data(uint64_t data) {
  pool->data = data;
  persist(&pool->data);
}

int main(int argc, char** argv) {
  pool = open_pool(argv[argc - 1]);
  blackout_commit_var((void*)&pool->version, sizeof pool->version);
  blackout_commit_range((void*)&pool->version, (void*)&pool->data, sizeof pool->data);
  if (pool->version != 0) {
    if (pool->data > 1000) printf("much\n"); /* the restart reads the data */
    return 0;
  }
  set_data(1);
  set_version(1);
#ifdef FIXED
  set_data(2);
#endif
  set_version(2);
#ifdef FIXED
  set_data(3);
#endif
  set_version(3);
  return 0;
}
