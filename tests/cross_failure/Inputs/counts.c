/* A log whose restart says how many entries there are, and reads so many. The count of an operation that has ended is
 * never flushed. FIX: it is. FLAG: the count is flushed, and a flag that each operation sets and leaves as it found it
 * is not when it is cleared; the restart prints that too. */
#include "pool.h"

struct pool {
  uint64_t count LINE;
  uint64_t busy LINE;
  uint64_t entries[8] LINE;
};

static void append(uint64_t i) {
#ifdef FLAG
  SET(l->busy, 1);
  persist(&l->busy);
#endif
  SET(l->entries[i], 100 + i);
  persist(&l->entries[i]);
  SET(l->count, i + 1);
#if defined FIX || defined FLAG
  persist(&l->count);
#endif
#ifdef FLAG
  SET(l->busy, 0);
#endif
}

static void operations(void) {
  for (uint64_t i = 0; i < 3; ++i) OPERATION("append", i, append(i));
}

static void restart(void) {
#ifdef FLAG
  if (l->busy)
    for (uint64_t i = 0; i < 8; ++i)
      if (l->entries[i] != 0 && l->entries[i] != 100 + i) exit(3);
  printf("busy: %d\n", (int)l->busy);
#endif
  printf("%d entries\n", (int)l->count);
  for (uint64_t i = 0; i < l->count; ++i)
    if (l->entries[i] != 100 + i) exit(4);
}

MAIN
