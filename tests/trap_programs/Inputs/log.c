// A log: an entry, then the count that makes it valid. With BUG the entry is never flushed. A restart reads what is
// valid.
#include <immintrin.h>

#include "Inputs/pool.h"

struct Log {
  uint64_t count __attribute__((aligned(64)));
  uint64_t entries[8] __attribute__((aligned(64)));
};

__attribute__((noinline)) static void append(struct Log* log, uint64_t value) {
  uint64_t n = log->count;
  log->entries[n] = value;  // LOST
#ifndef BUG
  _mm_clflushopt(&log->entries[n]);
#endif
  _mm_sfence();
  log->count = n + 1;  // SURVIVES
  _mm_clflushopt(&log->count);
  _mm_sfence();
}

__attribute__((noinline)) static int look(const struct Log* log) {
  for (uint64_t i = 0; i < log->count; ++i)
    if (log->entries[i] != 100 + i) return 3;  // READS
  return 0;
}

int main(int argc, char** argv) {
  struct Log* log = (struct Log*)mapPool(argv[1], 4096);
  int wrong = look(log);
  if (wrong != 0) return wrong;
  while (log->count < 3) append(log, 100 + log->count);
  return argc < 2;
}
