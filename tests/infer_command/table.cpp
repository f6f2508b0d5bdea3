// The table that a user reads: guardians with what they guard, where they are read and set; pairs; the sums.
// RUN: %cxx -g -O1 -I %include %s -o %t
// RUN: %blackout infer %t | diff -u - %S/Inputs/table.txt
// RUN: %blackout infer %t --why | FileCheck %s --check-prefix=WHY
// RUN: %blackout infer %t --json | FileCheck %s --check-prefix=JSON
// WHY: table.cpp:{{[0-9]+}} tests Bucket.valid before table.cpp:{{[0-9]+}} reads Bucket.key (flag)
// WHY: Log.head and Log.tail guard Log.entries[] together
// JSON: "field": "Bucket.valid"
// JSON: "reason": "table.cpp:{{[0-9]+}} tests Bucket.valid before table.cpp:{{[0-9]+}} reads Bucket.key"
// JSON: "rule": "together"
// JSON-NEXT: "first": "Log.head"
#include <cstdint>
#include <cstdio>

#include "Inputs/persist.h"

struct Bucket {
  std::uint64_t valid;
  std::uint64_t key;
  std::uint64_t value;
};

struct Log {
  std::uint64_t head;
  std::uint64_t tail;
  std::uint64_t entries[8];
};

void put(Bucket* b, std::uint64_t key, std::uint64_t value) {
  b->key = key;
  b->value = value;
  persist(b, sizeof *b);
  b->valid = 1;
  persist(&b->valid, sizeof b->valid);
}

std::uint64_t get(const Bucket* b) {
  if (b->valid != 1) return 0;
  return b->key + b->value;
}

std::uint64_t take(Log* log) {
  if (log->head == log->tail) return 0;
  std::uint64_t entry = log->entries[log->head % 8];
  log->head = log->head + 1;
  persist(log, sizeof *log);
  return entry;
}

int main() {
  static Bucket bucket;
  static Log log;
  put(&bucket, 1, 2);
  std::printf("%lu %lu\n", get(&bucket), take(&log));
}
