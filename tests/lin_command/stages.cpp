// States around likely linearization points come first: a mistake that leaves an operation incompletely durable, one
// that leaves effects unrecovered, and one that neither of the two tests shows, only all states.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: echo "insert 1 10" > ops.txt && echo "insert 2 20" >> ops.txt && echo "remove 1" >> ops.txt
// RUN: %cxx -std=c++17 -O1 -g -Wall -Wextra -Werror -I%include %s -o map
// RUN: %blackout lin --pm pool --ops ops.txt --show-points -- ./map pool 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: note: The operations reached {{[0-9]+}} of {{[0-9]+}} lines that store to the structs in persistent memory; never reached: stages.cpp:[[#BIAS:]].
// RIGHT: points first: {{.*}} marked by hand, of which none is missed
// RIGHT-NEXT: tests there: {{[1-9][0-9]*}} incompletely durable, {{[1-9][0-9]*}} unrecovered durable; then all states, then all other points
// RIGHT-NEXT: by rules: {{.*}} to guardians or by atomic instructions, {{.*}} to what can be reached already, {{.*}} by both
// RIGHT: point: stages.cpp:{{[0-9]+}} sets Slot.key{{.*}} tests Slot.key before {{.*}}, marked)
// RIGHT: SUMMARY: blackout: no findings;
//
// RUN: env BUG=1 not %blackout lin --pm pool --ops ops.txt -- ./map pool 2>&1 | FileCheck %s --check-prefix=INCOMPLETE
// INCOMPLETE: shown: half of an interrupted operation is there
// INCOMPLETE: evidence: Found by the test for incompletely durable operations
//
// RUN: env BUG=2 not %blackout lin --pm pool --ops ops.txt -- ./map pool 2>&1 | FileCheck %s --check-prefix=UNRECOVERED
// UNRECOVERED: shown: half of an interrupted operation is there
// UNRECOVERED: evidence: Found by the test for unrecovered durable effects
//
// RUN: env BUG=3 not %blackout lin --pm pool --ops ops.txt -- ./map pool 2>&1 | FileCheck %s --check-prefix=ALL
// ALL: shown: half of an interrupted operation is there
// ALL: evidence: Found by exploring all states at likely linearization points; the two tests there do not show it.
//
// Without a generator of operations nothing is said of its options.
// RUN: %blackout check --pm pool --strategy tests -- ./map pool > checked 2>&1; FileCheck %s --check-prefix=CHECKED < checked
// CHECKED: note: The recorded run reached {{[0-9]+}} of {{[0-9]+}} lines that store to the structs in persistent memory; never reached: {{.*}}. What was not reached was not tested: other arguments or input may reach it.
//
// The two tests alone find two of the mistakes, and the report says what they leave out; all states find the third.
// RUN: env BUG=1 not %blackout lin --pm pool --ops ops.txt --strategy tests -- ./map pool 2>&1 | FileCheck %s --check-prefix=TESTS
// RUN: env BUG=2 not %blackout lin --pm pool --ops ops.txt --strategy tests:guardians -- ./map pool 2>&1 | FileCheck %s --check-prefix=TESTS
// TESTS: shown: half of an interrupted operation is there
// RUN: env BUG=3 %blackout lin --pm pool --ops ops.txt --strategy tests:marked -- ./map pool 2>&1 | FileCheck %s --check-prefix=BLIND
// BLIND: States that the strategy tests does not choose: it tried
// BLIND: SUMMARY: blackout: no findings;
// RUN: not %blackout lin --pm pool --ops ops.txt --strategy tests:some -- ./map pool 2>&1 | FileCheck %s --check-prefix=SOME
// SOME: --strategy tests:some: around which stores? likely, guardians, published, marked or all
//
// By output equivalence what the first leaves is found too: the answer is neither that before the insert nor that after it.
// RUN: env BUG=1 not %blackout lin --pm pool --ops ops.txt --judge output -- ./map pool 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: shown:
// OUTPUT-NOT: no order of the operations
//
// What the program's code does not say (no bitcode) the stores do: the findings are the same, and so are stages.
// RUN: g++ -std=c++17 -O1 -g -I%include %s -o plain
// RUN: env BUG=1 not %blackout lin --pm pool --ops ops.txt --show-points -- ./plain pool 2>&1 | FileCheck %s --check-prefix=PLAIN
// PLAIN: evidence: Found by the test for incompletely durable operations
// PLAIN: (guardians are not known: no bitcode)
//
// At any number of jobs the same.
// RUN: rm -rf blackout-findings && env BUG=3 not %blackout lin --pm pool --ops ops.txt --jobs 1 --json one.json -- ./map pool > /dev/null 2>&1
// RUN: rm -rf blackout-findings && env BUG=3 not %blackout lin --pm pool --ops ops.txt --jobs 3 --json three.json -- ./map pool > /dev/null 2>&1
// RUN: diff one.json three.json
#include <blackout/lin.hpp>

#include "Inputs/pool.h"

constexpr uint64_t kBias = 7;

// The value three times, so that one may be lost, less a bias that is data and tells nothing; each in a line of its own.
struct Slot {
  alignas(64) uint64_t key;  // 0: free
  alignas(64) uint64_t bias;
  struct {
    alignas(64) uint64_t value;
  } word[3];
};
struct Root {
  Slot slots[16];
};

class Map {
 public:
  static Map* open(const char* pool) {
    auto* map = new Map(mapPool<Root>(pool));
    // An insert of which no word is there counts as not made.
    for (Slot& s : map->root_->slots)
      if (bug() == 3 && s.key != 0 && (s.word[0].value | s.word[1].value | s.word[2].value) == 0) publish(&s, 0);
    return map;
  }

  bool insert(uint64_t key, uint64_t value) {
    if (find(key) != nullptr) return false;
    Slot* free = find(0);
    if (free == nullptr) return false;
    free->bias = kBias;
    for (auto& word : free->word) word.value = value - kBias;
    if (bug() != 1) persist(&free->bias);
    if (bug() != 3) persistWords(free);
    publish(free, key);
    if (bug() == 1) persist(&free->bias);
    if (bug() == 3) persistWords(free);  // two of three may be lost, and one is there
    return true;
  }

  std::optional<uint64_t> get(uint64_t key) {
    Slot* s = find(key);
    if (s == nullptr) return std::nullopt;
    uint64_t a = s->word[0].value, b = s->word[1].value, c = s->word[2].value;
    return (a == b || a == c ? a : b) + s->bias;
  }

  bool remove(uint64_t key) {
    Slot* s = find(key);
    if (s == nullptr) return false;
    if (bug() == 2) {  // gone before the key is
      s->bias = 0;
      persist(&s->bias);
    }
    publish(s, 0);
    return true;
  }

 private:
  explicit Map(Root* root) : root_(root) {}
  static void persistWords(const Slot* s) {
    for (const auto& word : s->word) flush(&word);
    fence();
  }
  static void publish(Slot* s, uint64_t key) {
    __atomic_store_n(&s->key, key, __ATOMIC_RELEASE);
    blackout_lp();
    flush(&s->key);
    if (bug() != 3 || key == 0) fence();  // otherwise the fence after the words completes it
  }
  Slot* find(uint64_t key) {
    for (Slot& s : root_->slots)
      if (s.key == key) return &s;
    return nullptr;
  }
  Root* root_;
};

BLACKOUT_MAP(Map)
