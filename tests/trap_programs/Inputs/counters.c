// Two counters that a transaction of libpmemobj keeps equal, and what a program may get wrong about it:
//   -DLATE   the second one is added after it was stored
//   -DLEFT   the second one is not added, and no restart looks at it
//   -DOPEN   the program ends inside the transaction
//   -DASIDE  the pool is created under another name, and renamed when it is complete
//   -DTWICE  both are persisted once more by hand, at two lines, inside the transaction and after it
#include <libpmemobj.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

POBJ_LAYOUT_BEGIN(counters);
POBJ_LAYOUT_ROOT(counters, struct root);
POBJ_LAYOUT_END(counters);

struct root {
  uint64_t one;
  char pad[120];
  uint64_t two;
};

static PMEMobjpool* create(const char* path) {
#ifdef ASIDE
  char aside[256];
  snprintf(aside, sizeof aside, "%s.new", path);
  unlink(aside);
  PMEMobjpool* pool = pmemobj_create(aside, POBJ_LAYOUT_NAME(counters), PMEMOBJ_MIN_POOL, 0600);
  if (pool != NULL) rename(aside, path);
  return pool;
#else
  return pmemobj_create(path, POBJ_LAYOUT_NAME(counters), PMEMOBJ_MIN_POOL, 0600);
#endif
}

int main(int argc, char** argv) {
  PMEMobjpool* pool =
      access(argv[1], F_OK) == 0 ? pmemobj_open(argv[1], POBJ_LAYOUT_NAME(counters)) : create(argv[1]);
  if (pool == NULL) {
    fprintf(stderr, "%s\n", pmemobj_errormsg());
    return 4;
  }
  TOID(struct root) root = POBJ_ROOT(pool, struct root);
#ifdef LEFT
  if (D_RO(root)->one > 100) return 3;
#else
  if (D_RO(root)->one != D_RO(root)->two) return 3;
#endif
  TX_BEGIN(pool) {
    TX_ADD_FIELD(root, one);
#if !defined(LATE) && !defined(LEFT)
    TX_ADD_FIELD(root, two);
#endif
    D_RW(root)->one = D_RO(root)->one + 1;
    D_RW(root)->two = D_RO(root)->two + 1;
#ifdef LATE
    TX_ADD_FIELD(root, two);
#endif
#ifdef OPEN
    exit(0);
#endif
#ifdef TWICE
    pmemobj_persist(pool, &D_RW(root)->one, 8);
    pmemobj_persist(pool, &D_RW(root)->one, 8);
#endif
  }
  TX_END
#ifdef TWICE
  pmemobj_persist(pool, &D_RW(root)->two, 8);
#endif
  pmemobj_close(pool);
  return argc < 2;
}
