// The program of mixed.test: reads the log, and keeps something of its own, which it never flushes with BUG.
#include "Inputs/pool.h"
#include "mixed_log.h"

int main(int argc, char** argv) {
  struct Log* log = (struct Log*)mapPool(argv[1], 4096);
  for (uint64_t i = 0; i < log->count; ++i)
    if (log->entries[i] != 100 + i) return 3;
  if (log->count > 1 && log->last != 2) return 4;
  while (log->count < 3) {
    *(volatile uint64_t*)&log->last = 2;
#ifndef BUG
    __asm__ volatile("clflushopt %0" : : "m"(log->last) : "memory");
#endif
    append(log, 100 + log->count);
  }
  return argc < 2;
}
