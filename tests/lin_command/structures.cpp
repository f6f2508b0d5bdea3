// The other structures, each as small as it can be: right, and with a store that is not made durable (BUG=1).
//
// REQUIRES: full
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %cxx -std=c++17 -O2 -g -Wall -Wextra -Werror -DSET -I%include %s -o set
// RUN: %blackout lin --operations 8 --pm pool -- ./set pool 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: env BUG=1 not %blackout lin --operations 8 --pm pool -- ./set pool 2>&1 | FileCheck %s --check-prefix=SET
// RUN: %cxx -std=c++17 -O2 -g -Wall -Wextra -Werror -DQUEUE -I%include %s -o queue
// RUN: %blackout lin --operations 8 --pm pool -- ./queue pool 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: env BUG=1 not %blackout lin --operations 8 --pm pool -- ./queue pool 2>&1 | FileCheck %s --check-prefix=QUEUE
// RUN: %cxx -std=c++17 -O2 -g -Wall -Wextra -Werror -DSTACK -I%include %s -o stack
// RUN: %blackout lin --operations 8 --pm pool -- ./stack pool 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: env BUG=1 not %blackout lin --operations 8 --pm pool -- ./stack pool 2>&1 | FileCheck %s --check-prefix=STACK
// RUN: %cxx -std=c++17 -O2 -g -Wall -Wextra -Werror -DARRAY -I%include %s -o array
// RUN: %blackout lin --operations 8 --pm pool -- ./array pool 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: env BUG=1 not %blackout lin --operations 8 --pm pool -- ./array pool 2>&1 | FileCheck %s --check-prefix=ARRAY
// RUN: %cxx -std=c++17 -O2 -g -Wall -Wextra -Werror -DREGISTER -I%include %s -o register
// RUN: %blackout lin --operations 8 --pm pool -- ./register pool 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: env BUG=1 not %blackout lin --operations 8 --pm pool -- ./register pool 2>&1 | FileCheck %s --check-prefix=REGISTER
// RUN: %cxx -std=c++17 -O2 -g -Wall -Wextra -Werror -DCOUNTER -I%include %s -o counter
// RUN: %blackout lin --operations 8 --pm pool -- ./counter pool 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: env BUG=1 not %blackout lin --operations 8 --pm pool -- ./counter pool 2>&1 | FileCheck %s --check-prefix=COUNTER
//
// A ring that says how much it holds is filled and passes its end, with the usual number of operations: what is wrong
// only there is found.
// RUN: %cxx -std=c++17 -O2 -g -Wall -Wextra -Werror -DRING -I%include %s -o ring
// RUN: %blackout lin --pm pool -- ./ring pool 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: env BUG=1 not %blackout lin --pm pool -- ./ring pool 2>&1 | FileCheck %s --check-prefix=RING
// RUN: ./ring listed --list-ops ring.ops && grep -c . ring.ops | FileCheck %s --check-prefix=COUNT
// RING: (durable linearizability of a queue)
// COUNT: 84
// RIGHT: SUMMARY: blackout: no findings;
// SET: contains({{[0-9]+}}) -> false {{.*}}: it could only be true (durable linearizability of a set)
// QUEUE: (durable linearizability of a queue)
// STACK: (durable linearizability of a stack)
// ARRAY: write([[AT:[0-9]+]], [[NEW:[0-9]+]]) {{ *}}acknowledged
// ARRAY-NEXT: crash
// ARRAY-NEXT: read([[AT]]) -> {{[0-9]+}} {{.*}}: [[NEW]] was promised{{.*}} (durable linearizability of an array)
// REGISTER: : {{[0-9]+}} was promised{{.*}} (durable linearizability of a register)
// COUNTER: : {{[0-9]+}} was promised (durable linearizability of a counter)
//
// What is made durable one operation later is lost by the last crash alone: too late for durable linearizability, but a
// beginning of the run survives.
// RUN: env BUG=1 not %blackout lin --detect=none --operations 8 --pm pool -- ./register pool > /dev/null 2>&1
// RUN: env BUG=1 %blackout lin --criterion buffered --detect=none --operations 8 --pm pool -- ./register pool 2>&1 | FileCheck %s --check-prefix=RIGHT
#include <blackout/lin.hpp>

#include "Inputs/pool.h"

struct Cell {
  alignas(64) uint64_t value;
};
struct Root {
  Cell first, last;  // of a queue; of a stack only the last
  Cell cells[128];
};

struct Structure {
  static Structure* open(const char* pool) { return new Structure{mapPool<Root>(pool)}; }
  Root* root;

  static void set(Cell& cell, uint64_t value, bool now = true) {
    __atomic_store_n(&cell.value, value, __ATOMIC_RELEASE);
    if (now) persist(&cell);
  }
  static bool durable() { return bug() != 1; }

#if defined SET
  bool insert(uint64_t key) { return at(key) == nullptr && (set(*at(0), key, durable()), true); }
  bool contains(uint64_t key) { return at(key) != nullptr; }
  bool remove(uint64_t key) { return at(key) != nullptr && (set(*at(key), 0), true); }
  Cell* at(uint64_t key) {
    for (Cell& c : root->cells)
      if (c.value == key) return &c;
    return nullptr;
  }
#elif defined QUEUE
  void enqueue(uint64_t value) {
    set(root->cells[root->last.value % 128], value, durable());
    set(root->last, root->last.value + 1);
  }
  std::optional<uint64_t> dequeue() {
    if (root->first.value == root->last.value) return std::nullopt;
    uint64_t value = root->cells[root->first.value % 128].value;
    set(root->first, root->first.value + 1);
    return value;
  }
#elif defined RING
  static constexpr uint64_t kHolds = 20;
  size_t capacity() { return kHolds; }
  bool enqueue(uint64_t value) {
    uint64_t at = root->last.value;
    if (at - root->first.value == kHolds) return false;
    set(root->cells[at % kHolds], value, durable() || at != kHolds);  // the first past the end
    set(root->last, at + 1);
    return true;
  }
  std::optional<uint64_t> dequeue() {
    if (root->first.value == root->last.value) return std::nullopt;
    uint64_t value = root->cells[root->first.value % kHolds].value;
    set(root->first, root->first.value + 1);
    return value;
  }
#elif defined STACK
  void push(uint64_t value) {
    set(root->cells[root->last.value], value);
    set(root->last, root->last.value + 1, durable());
  }
  std::optional<uint64_t> pop() {
    if (root->last.value == 0) return std::nullopt;
    uint64_t value = root->cells[root->last.value - 1].value;
    set(root->last, root->last.value - 1);
    return value;
  }
#elif defined ARRAY
  size_t size() { return 6; }
  void write(size_t i, uint64_t value) { set(root->cells[i], value, durable()); }
  uint64_t read(size_t i) { return root->cells[i].value; }
#elif defined REGISTER
  void write(uint64_t value) {
    if (!durable()) persist(&root->first);  // what the write before stored
    set(root->first, value, durable());
  }
  uint64_t read() { return root->first.value; }
#elif defined COUNTER
  void add(uint64_t value) { set(root->first, root->first.value + value, durable()); }
  uint64_t read() { return root->first.value; }
#endif
};

#if defined SET
BLACKOUT_SET(Structure)
#elif defined QUEUE
BLACKOUT_QUEUE(Structure)
#elif defined RING
BLACKOUT_QUEUE(Structure)
#elif defined STACK
BLACKOUT_STACK(Structure)
#elif defined ARRAY
BLACKOUT_ARRAY(Structure)
#elif defined REGISTER
BLACKOUT_REGISTER(Structure)
#elif defined COUNTER
BLACKOUT_COUNTER(Structure)
#endif
