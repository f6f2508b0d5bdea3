/* XFDetector, figure 2: an array whose element is backed up before it is changed, with `valid` the wrong way round.
 * FIX: the right way. COMMIT: `valid` is registered as a commit variable. */
#include "pool.h"

struct pool {
  uint64_t valid LINE;
  uint64_t idx LINE;
  uint64_t val;
  uint64_t arr[16] LINE;
};

#ifdef FIX
enum { BEGIN = 1, END = 0 };
#else
enum { BEGIN = 0, END = 1 };
#endif

static void update(uint64_t idx, uint64_t value) {
  l->idx = idx;       // BACKUP
  l->val = l->arr[idx];
  persist(&l->idx);
  SET(l->valid, BEGIN);
  persist(&l->valid);
  l->arr[idx] = value;
  persist(&l->arr[idx]);
  SET(l->valid, END);  // END
  persist(&l->valid);
}

static void operations(void) {
#ifdef COMMIT
  blackout_commit_var(&l->valid, sizeof l->valid);
#endif
  for (uint64_t i = 0; i < 3; ++i) OPERATION("update", i, update(i % 2, 10 + i));
}

static void restart(void) {
  if (l->valid) {
    l->arr[l->idx] = l->val;  // READ
    persist(&l->arr[l->idx]);
    SET(l->valid, 0);
    persist(&l->valid);
  }
#ifndef SILENT
  printf("%lu %lu\n", (unsigned long)l->arr[0], (unsigned long)l->arr[1]);
#endif
}
MAIN
