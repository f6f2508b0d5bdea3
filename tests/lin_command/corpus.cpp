// REQUIRES: full
// Operations that reach what generated ones don't: a bucket takes 24 keys, and then moves them to a table of its own.
// None of the generator's lists fills one bucket so far; guidance by what was reached does, finds the mistake there, and
// keeps what shows it.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %cxx -std=c++17 -O1 -g -Wall -Wextra -Werror -I%include %s -o map
//
// The mistake is in code that is not reached: there is nothing to find, and the report says what it did not see.
// RUN: env BUG=1 %blackout lin --pm pool --operations 40 -- ./map pool 2>&1 | FileCheck %s --check-prefix=BLIND
// BLIND: note: The operations reached {{[0-9]+}} of {{[0-9]+}} lines that store to the structs in persistent memory; never reached: {{.*}}corpus.cpp:[[#]]
// BLIND: SUMMARY: blackout: no findings;
//
// RUN: env BUG=1 not %blackout lin --pm pool --operations 40 --corpus kept --corpus-runs 60 --json one.json -- ./map pool > one.txt 2>&1
// RUN: FileCheck %s --check-prefix=GUIDED < one.txt
// GUIDED: shown: {{.*}}missing-flush]
// GUIDED: Bucket.moved
// GUIDED: list: {{ *}}kept/list-{{[0-9a-f]+}}.ops
// GUIDED: note: 60 lists of operations were tried without a crash: {{[0-9]+}} beyond the first, in kept, reach{{.*}} that no other does. {{[0-9]+}} list{{.*}} in kept {{was|were}} explored as well.
// GUIDED: note: The first list alone reached {{[0-9]+}} of {{[0-9]+}} lines that store to the structs in persistent memory.
//
// By what was kept it is found at once, and a list alone shows it, too; so does the replay file.
// RUN: env BUG=1 not %blackout lin --pm pool --operations 40 --corpus kept --corpus-runs 0 -- ./map pool 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: list: {{ *}}kept/list-{{[0-9a-f]+}}.ops
// RUN: env BUG=1 not %blackout replay blackout-findings/finding-1.blackout
//
// The same seed finds the same.
// RUN: rm -rf kept && env BUG=1 not %blackout lin --pm pool --operations 40 --corpus kept --corpus-runs 60 --json two.json -- ./map pool > /dev/null 2>&1
// RUN: diff one.json two.json
//
// Without the mistake all of them are clean.
// RUN: %blackout lin --pm pool --operations 40 --corpus kept --corpus-runs 20 -- ./map pool 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: SUMMARY: blackout: no findings;
//
// A list of one's own is explored whatever it reaches; one with an operation that there is not is counted.
// RUN: mkdir own && echo "insert 1 2" > own/short.ops && echo "explode 1" > own/strange.ops
// RUN: %blackout lin --pm pool --operations 40 --corpus own --corpus-runs 0 -- ./map pool > own.txt 2>&1 && FileCheck %s --check-prefix=OWN < own.txt
// OWN: note: 2 lists of operations were tried without a crash, and none reaches a store {{.*}} 1 list in own (1 there before) was explored as well. The harness did not take 1 of those that were tried.
// OWN: SUMMARY: blackout: no findings;
// What was reached is said of all lists together.
// RUN: grep -c 'The operations reached' own.txt | grep -x 1
//
// A list that kills the harness without any crash makes the result inconclusive, as the first list would.
// RUN: env BUG=2 not %blackout lin --pm pool --operations 40 --corpus deadly --corpus-runs 60 -- ./map pool > dies.txt 2>&1
// RUN: FileCheck %s --check-prefix=DIES < dies.txt
// DIES: inconclusive: The harness ended with signal SIGABRT (Aborted), without a simulated crash, when it made the operations in deadly/dies-{{[0-9a-f]+}}.ops (--ops)
// RUN: env BUG=2 not %blackout lin --pm pool --ops deadly/dies-*.ops -- ./map pool 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: inconclusive: The program itself ended with signal SIGABRT (Aborted), without a simulated crash.
//
// RUN: echo "insert seven" > kept/wrong.ops && not %blackout lin --pm pool --corpus kept -- ./map pool 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: --corpus: kept/wrong.ops is no list of operations: a name and numbers on each line, as 'insert 7 70'; # begins a comment
// RUN: not %blackout lin --pm pool --corpus kept --ops kept/wrong.ops -- ./map pool 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: --corpus and --ops: operations come from the folder, where the file may be put; leave one out
#include <blackout/lin.hpp>

#include "Inputs/pool.h"

struct alignas(16) Slot {
  uint64_t key;  // 0: free
  uint64_t value;
};
constexpr unsigned kBuckets = 16, kFew = 24, kMany = 256;
struct Bucket {
  alignas(64) uint64_t moved;  // 1: what it held is in its table
  alignas(64) Slot few[kFew];
  alignas(64) Slot many[kMany];
};
struct Root {
  Bucket buckets[kBuckets];
};

class Map {
 public:
  static Map* open(const char* pool) { return new Map(mapPool<Root>(pool)); }

  bool insert(uint64_t key, uint64_t value) {
    if (find(key, key) != nullptr) return false;
    Slot* free = find(key, 0);
    if (free == nullptr && bucketOf(key).moved == 0) {
      move(bucketOf(key));
      free = find(key, 0);
    }
    if (free == nullptr) return false;
    free->value = value;
    publish(free, key);
    return true;
  }
  std::optional<uint64_t> get(uint64_t key) {
    Slot* s = find(key, key);
    return s == nullptr ? std::nullopt : std::optional<uint64_t>(s->value);
  }
  bool remove(uint64_t key) {
    Slot* s = find(key, key);
    if (s == nullptr) return false;
    publish(s, 0);
    return true;
  }

 private:
  explicit Map(Root* root) : root_(root) {}
  Bucket& bucketOf(uint64_t key) { return root_->buckets[key % kBuckets]; }
  // The first slot with the key where `of` belongs.
  Slot* find(uint64_t of, uint64_t key) {
    Bucket& b = bucketOf(of);
    Slot* slots = b.moved != 0 ? b.many : b.few;
    for (unsigned i = 0; i < (b.moved != 0 ? kMany : kFew); ++i)
      if (slots[i].key == key) return &slots[i];
    return nullptr;
  }
  static void publish(Slot* s, uint64_t key) {
    __atomic_store_n(&s->key, key, __ATOMIC_RELEASE);  // the line of its value
    persist(s);
  }
  static void move(Bucket& b) {
    if (bug() == 2) abort();
    for (unsigned i = 0; i < kFew; ++i) b.many[i] = b.few[i];
    for (unsigned i = 0; i < kFew; i += 4) flush(&b.many[i]);
    fence();
    b.moved = 1;
    if (bug() != 1) persist(&b.moved);
  }
  Root* root_;
};

BLACKOUT_MAP(Map)
