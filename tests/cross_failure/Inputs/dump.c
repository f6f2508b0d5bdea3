/* A list of entries that a restart prints line by line, after it has counted its starts. The count is published before
 * any entry but the first is durable. FIX: after it, under a flag by which the restart counts again and says so. LOSES: as FIX, but the
 * restart that sees the flag says that there was a crash, and has no entries. STATUS: as FIX, and the restart prints the
 * flag. */
#include "pool.h"

struct pool {
  uint64_t count LINE;
  uint64_t dirty LINE;
  uint64_t starts LINE;
  struct {
    uint64_t value LINE;
  } entries[4];
};

static void append(uint64_t i) {
  l->entries[i].value = 100 * (i + 1);
#if defined FIX || defined LOSES || defined STATUS
  persist(&l->entries[i]);
  SET(l->dirty, 1);
  persist(&l->dirty);
  SET(l->count, i + 1);
  persist(&l->count);
  SET(l->dirty, 0);
  persist(&l->dirty);
#else
  if (i == 0) persist(&l->entries[i]); /* the first is right */
  SET(l->count, i + 1);
  persist(&l->count);
  if (i != 0) persist(&l->entries[i]);
#endif
}

static void operations(void) {
  for (uint64_t i = 0; i < 3; ++i) OPERATION("append", i, append(i));
}

static void restart(void) {
  l->starts++;
  persist(&l->starts);
#ifdef STATUS
  printf("dirty: %lu\n", (unsigned long)l->dirty);
#endif
  if (l->dirty) {
#ifdef LOSES
    printf("crash occurred\n");
    return;
#elif !defined STATUS
    printf("count dirty, recalculating\n");
#endif
    uint64_t count = 0;
    while (count < 4 && l->entries[count].value) ++count;
    l->count = count;
    persist(&l->count);
    SET(l->dirty, 0);
    persist(&l->dirty);
  }
  for (uint64_t i = 0; i < l->count; ++i) printf("entry %lu\n", (unsigned long)l->entries[i].value);
}
MAIN
