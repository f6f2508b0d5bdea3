/* An object is allocated and linked, but one of its fields is never set. */
#include <blackout/blackout.h>

#include "pool.h"

struct object {
  uint64_t number, flags;
};
struct pool {
  LINE uint64_t used;
  LINE struct object object;
};

int main(int argc, char** argv) {
  volatile struct pool* pool = open_pool(argv[argc - 1]);
  if (pool->used) { /* a restart */
    printf("%d %s\n", (int)pool->object.number, pool->object.flags & 1 ? "hidden" : "shown");
    return 0;
  }
  blackout_discard((void*)&pool->object, sizeof pool->object); /* as an allocator does: what is there means nothing */
  pool->object.number = 1;
#ifdef FIXED
  pool->object.flags = 0;
#endif
  persist(&pool->object);
  pool->used = 1;
  persist(&pool->used);
  return 0;
}
