/* A counter of which a crash may leave three values, and only the one in the middle is harmful: 1 is no multiple of what
 * the restart divides by. FIX: it is made with one store. */
#include "pool.h"

struct pool {
  uint64_t state LINE;
};

static void step(void) {
#ifdef FIX
  SET(l->state, 2);
#else
  SET(l->state, 1);  // HARMFUL
  SET(l->state, 2);
#endif
  persist(&l->state);
}

static void operations(void) { OPERATION("step", 0, step()); }

static void restart(void) {
  uint64_t state = l->state;  // READ
  if (state == 1) abort();
}
MAIN
