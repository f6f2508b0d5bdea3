/* XFDetector's bug 2: an object is allocated and published, and one of its fields is read after a crash that came before
 * it was ever written. FIX: it is initialised first. UNUSED: what is read makes no difference. */
#include "pool.h"

struct object {
  uint64_t key;
  uint64_t count;
} LINE;
struct pool {
  struct object* root LINE;
  struct object objects[2];
};

static struct object* allocate(void) {
  struct object* o = &l->objects[0];
  blackout_discard(o, sizeof *o);  // ALLOCATED
  return o;
}

static void operations(void) {
  struct object* o = allocate();
  o->key = 5;
#ifdef FIX
  o->count = 0;
#endif
  persist(o);
  SET(l->root, o);
  persist(&l->root);
  o->count = 1;
  persist(&o->count);
}

static void restart(void) {
  if (l->root == NULL) return;
  uint64_t count = l->root->count;  // READ
#ifdef UNUSED
  l->root->key += count == 1234567 ? 0 : 0;
#else
  printf("%lu\n", (unsigned long)count);
#endif
}
MAIN
