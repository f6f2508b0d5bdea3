// A log in a library and its user, each compiled by whichever compiler.
#pragma once
#include <stdint.h>

struct Log {
  uint64_t count __attribute__((aligned(64)));
  uint64_t entries[8] __attribute__((aligned(64)));
  uint64_t last __attribute__((aligned(64)));
};
void append(struct Log* log, uint64_t value);
