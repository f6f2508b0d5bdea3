// A map of buckets with two slots each, from a class and one macro. BUG=1 to 4 each bring in one mistake.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %cxx -std=c++17 -O2 -g -Wall -Wextra -Werror -I%include %s -o map
// RUN: %blackout lin --pm pool --operations 14 --seed 2 -- ./map pool 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: SUMMARY: blackout: no findings;
// RUN: echo "insert 1 10" > ops.txt && echo "insert 17 170 # the same bucket" >> ops.txt && echo "remove 1" >> ops.txt
//
// The key is never flushed: after its insert has returned, a crash loses it.
// RUN: env BUG=1 not %blackout lin --pm pool --ops ops.txt -- ./map pool 2>&1 | FileCheck %s --check-prefix=LOST
// LOST: shown: lost after it was acknowledged [not-linearizable, missing-flush]
// LOST-NEXT: {{^}}  insert(1, 10) -> true        acknowledged
// LOST-NEXT: {{^}}  crash                        after (3), map.cpp:[[#]]: what was stored to Slot.key was lost, all else was durable
// LOST-NEXT: {{^}}  get(1) -> nothing            no order of the operations explains this answer: 10 was promised (durable linearizability of a map)
// LOST: is not flushed before the operation ends at (2): {{.*}} answers what no order of the operations explains: get({{[0-9]+}})
// LOST: Tried in the simulation: with a flush and a fence after (1), these crash states can't come about.
// LOST: hint: flush the line of (1) and fence, before the operation ends at (2)
// LOST: SUMMARY: blackout: 1 shown;
// RUN: env BUG=1 not %blackout replay blackout-findings/finding-1.blackout 2>&1 | FileCheck %s --check-prefix=REPLAY
// REPLAY: answers the same again
// With any number of jobs the same.
// RUN: rm -rf blackout-findings && env BUG=1 not %blackout lin --pm pool --operations 6 --jobs 1 --json one.json -- ./map pool > /dev/null 2>&1
// RUN: rm -rf blackout-findings && env BUG=1 not %blackout lin --pm pool --operations 6 --jobs 3 --json three.json -- ./map pool > /dev/null 2>&1
// RUN: diff one.json three.json
//
// The key is there before its value: a crash inside the insert leaves half of it.
// RUN: env BUG=2 not %blackout lin --pm pool --ops ops.txt -- ./map pool 2>&1 | FileCheck %s --check-prefix=HALF
// HALF: shown: half of an interrupted operation is there [not-linearizable, wrong-order]
// HALF-NEXT: {{^}}  insert(1, 10)                under way when the power failed
// HALF-NEXT: {{^}}  crash {{.*}}: everything that had been stored was durable
// HALF-NEXT: {{^}}  get(1) -> 0                  no order of the operations explains this answer: it could only be 10 or nothing, and nobody wrote 0
//
// A remove that has returned is undone.
// RUN: env BUG=3 not %blackout lin --pm pool --ops ops.txt -- ./map pool 2>&1 | FileCheck %s --check-prefix=UNDONE
// UNDONE: shown: undone after it was acknowledged [not-linearizable, missing-flush]
// UNDONE: {{^}}  remove(1) -> true            acknowledged
// UNDONE-NEXT: {{^}}  crash
// UNDONE-NEXT: {{^}}  get(1) -> 10                 no order of the operations explains this answer: it could only be nothing
//
// A slot that was being emptied is never used again: all that is there is read rightly, and only what is inserted
// afterwards shows it.
// RUN: env SMALL=1 BUG=4 not %blackout lin --pm pool --ops ops.txt -- ./map pool 2>&1 | FileCheck %s --check-prefix=LEAK
// LEAK: shown: the structure no longer works [not-linearizable]
// LEAK: {{^}}  insert({{[0-9]+}}, {{[0-9]+}}) -> false no order of the operations explains this answer: it could only be true
// RUN: env SMALL=1 %blackout lin --pm pool --ops ops.txt -- ./map pool 2>&1 | FileCheck %s --check-prefix=RIGHT
//
// A fuzzer's bytes are operations, too: the same bytes the same ones, and when they end it ends.
// RUN: printf 'a few bytes of any kind, none of them an operation' > bytes
// RUN: rm -rf blackout-findings && env BUG=1 not %blackout lin --pm pool --ops-bytes bytes --json one.json -- ./map pool 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: shown: lost after it was acknowledged [not-linearizable, missing-flush]
// RUN: rm -rf blackout-findings && env BUG=1 not %blackout lin --pm pool --ops-bytes bytes --json three.json -- ./map pool > /dev/null 2>&1
// RUN: diff one.json three.json
// RUN: %blackout lin --pm pool --ops-bytes bytes -- ./map pool 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: not %blackout lin --pm pool --ops-bytes nowhere -- ./map pool 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: --ops-bytes nowhere: can't be read; name a file of bytes, as a fuzzer gives them
//
// A plain compiler's program is the same, and works without Blackout.
// RUN: g++ -std=c++17 -O2 -g -I%include %s -o plain && ./plain other && rm other
// RUN: %blackout lin --pm pool --ops ops.txt -- ./plain pool 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: env BUG=1 not %blackout lin --pm pool --ops ops.txt -- ./plain pool 2>&1 | FileCheck %s --check-prefix=PLAIN
// PLAIN: shown: lost after it was acknowledged [not-linearizable, missing-flush]
// PLAIN-NEXT: {{^}}  insert(1, 10) -> true        acknowledged
// PLAIN: {{^}}  get(1) -> nothing            no order of the operations explains this answer: 10 was promised
#include <blackout/lin.hpp>

#include "Inputs/pool.h"

struct Slot {
  alignas(64) uint64_t key;    // 0: free
  alignas(64) uint64_t value;  // durable before the key is
};
constexpr uint64_t kLeaving = UINT64_MAX;  // being emptied: a restart frees it
constexpr unsigned kBuckets = 16, kSlots = 2;
// Keys that find their bucket full go here.
constexpr unsigned kOverflow = 64;

struct Root {
  Slot slots[kBuckets][kSlots];
  Slot overflow[kOverflow];
};

class Map {
 public:
  static Map* open(const char* pool) {
    auto* map = new Map;
    map->root_ = mapPool<Root>(pool);
    map->forEach([&](Slot& s) {
      if (s.key != kLeaving || bug() == 4) return;
      s.key = 0;
      persist(&s.key);
    });
    return map;
  }

  bool insert(uint64_t key, uint64_t value) {
    if (find(key) != nullptr) return false;
    Slot* free = find(0, key);
    if (free == nullptr) return false;
    if (bug() == 2) {
      __atomic_store_n(&free->key, key, __ATOMIC_RELEASE);
      persist(&free->key);
    }
    free->value = value;
    persist(&free->value);
    if (bug() == 2) return true;
    __atomic_store_n(&free->key, key, __ATOMIC_RELEASE);
    if (bug() != 1) persist(&free->key);
    return true;
  }

  std::optional<uint64_t> get(uint64_t key) {
    Slot* s = find(key);
    return s == nullptr ? std::nullopt : std::optional<uint64_t>(s->value);
  }

  bool remove(uint64_t key) {
    Slot* s = find(key);
    if (s == nullptr) return false;
    __atomic_store_n(&s->key, kLeaving, __ATOMIC_RELEASE);
    if (bug() == 3) return __atomic_store_n(&s->key, 0, __ATOMIC_RELEASE), true;
    persist(&s->key);
    s->value = 0;
    persist(&s->value);
    __atomic_store_n(&s->key, 0, __ATOMIC_RELEASE);
    persist(&s->key);
    return true;
  }

 private:
  template <class Body>
  void forEach(Body body) {
    for (auto& bucket : root_->slots)
      for (Slot& s : bucket) body(s);
    for (Slot& s : root_->overflow) body(s);
  }
  Slot* find(uint64_t key) { return find(key, key); }
  // The first slot with this key where `of` belongs.
  Slot* find(uint64_t key, uint64_t of) {
    for (Slot& s : root_->slots[of % kBuckets])
      if (s.key == key) return &s;
    if (getenv("SMALL") != nullptr) return nullptr;
    for (Slot& s : root_->overflow)
      if (s.key == key) return &s;
    return nullptr;
  }
  Root* root_ = nullptr;
};

BLACKOUT_MAP(Map)
