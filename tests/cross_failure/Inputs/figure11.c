/* XFDetector, figure 11: backup and valid are written back together, so valid may survive without backup. The paper has
 * both in one line; there x86 keeps their order, and nothing is wrong (SAME_LINE). FIX: backup first. */
#include "pool.h"

struct pool {
  uint64_t backup LINE;
#ifdef SAME_LINE
  uint64_t valid;
#else
  uint64_t valid LINE;
#endif
  uint64_t arr LINE;
};

static void operations(void) {
  l->arr = 7;
  persist(&l->arr);
  blackout_commit_var(&l->valid, sizeof l->valid);
#ifdef RANGE
  blackout_commit_range(&l->valid, &l->backup, sizeof l->backup);
#endif
#ifdef OVERLAP
  blackout_commit_var(&l->arr, sizeof l->arr);
  blackout_commit_range(&l->valid, &l->backup, sizeof l->backup);
  blackout_commit_range(&l->arr, (char*)&l->backup + 4, sizeof l->backup); /* OVERLAPS */
#endif
  l->backup = l->arr;  // LINE 1
#ifdef FIX
  persist(&l->backup);
#endif
  SET(l->valid, 1);  // LINE 2
  flush(&l->backup);
  persist(&l->valid);
  l->arr = 8;  // LINE 5
  persist(&l->arr);
  SET(l->valid, 0);
  persist(&l->valid);
}

static void restart(void) {
  if (l->valid) {           // LINE 6
    l->arr = l->backup;     // LINE 7
    persist(&l->arr);
  }
  printf("%lu\n", (unsigned long)l->arr);
}
MAIN
