/* A counter is stored twice before it is made durable once. */
/* check: blackout check --detect overwritten-unpersisted --pm pool -- ./program pool */
#include "pool.h"

int main(int argc, char** argv) {
  volatile uint64_t* count = open_pool(argv[argc - 1]);
  if (*count > 2) abort(); /* a restart */
  *count = 1;
#ifdef FIXED
  persist(count);
#endif
  *count = 2;
  persist(count);
  return 0;
}
