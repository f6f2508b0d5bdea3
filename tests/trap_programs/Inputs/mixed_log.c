// The library of mixed.test: a log whose entries are not flushed with BUG.
#include "mixed_log.h"

#define FLUSH(p) __asm__ volatile("clflushopt %0" : : "m"(*(p)) : "memory")
#define FENCE() __asm__ volatile("sfence" : : : "memory")

void append(struct Log* log, uint64_t value) {
  uint64_t n = log->count;
  *(volatile uint64_t*)&log->entries[n] = value;
#ifndef BUG
  FLUSH(&log->entries[n]);
#endif
  FENCE();
  *(volatile uint64_t*)&log->count = n + 1;
  FLUSH(&log->count);
  FENCE();
}
