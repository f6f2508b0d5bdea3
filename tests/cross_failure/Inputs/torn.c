/* Two words that belong together, flushed together: a crash may keep either. No operation is marked, so a restart that
 * prints them is only suspected. FIX: they share 8 bytes. */
#include "pool.h"

struct pool {
  uint64_t first LINE;
  uint64_t second LINE;
  uint32_t both[2] LINE;
};

static void set(uint64_t v) {
#ifdef FIX
  SET(*(uint64_t*)l->both, v << 32 | v);
  persist(l->both);
#else
  l->first = v;   // WRITTEN
  l->second = v;  // WRITTEN
  flush(&l->first);
  flush(&l->second);
  fence();
#endif
}

static void operations(void) {
  for (uint64_t i = 1; i < 3; ++i) OPERATION("set", i, set(i));
}

static void restart(void) {
#ifdef FIX
  uint64_t both = *(uint64_t*)l->both;
  printf("%lu %lu\n", (unsigned long)(both >> 32), (unsigned long)(both & 0xffffffff));
#else
  uint64_t first = l->first;    // READ
  uint64_t second = l->second;  // READ
  printf("%lu %lu\n", (unsigned long)first, (unsigned long)second);
#endif
}
MAIN
