// Fields that are mostly accessed together: by three functions at least, and by four of five that access one of them.
// RUN: %cxx -g -O1 -I %include -c %s -o %t.o
// RUN: %blackout infer %t.o --why | FileCheck %s
// RUN: %blackout infer %t.o --json | FileCheck %s --check-prefix=JSON
// RUN: %blackout infer %t.o | FileCheck %s --check-prefix=SHORT
// CHECK: Pair.first and Pair.second are accessed together: 3 functions access both, 3 the first and 3 the second
// CHECK-NOT: accessed together
// JSON: "correlated": [
// JSON-NEXT: {
// JSON-NEXT: "first": "Pair.first",
// JSON-NEXT: "second": "Pair.second",
// JSON-NEXT: "together": 3,
// SHORT-NOT: accessed together
#include <cstdint>

#include "Inputs/persist.h"

struct Pair {
  std::uint64_t first, second;
  std::uint64_t rare;         // with the others in two functions
  std::uint64_t left, right;  // together in three functions, each in five
};

void set(Pair* p, std::uint64_t v) {
  p->first = v;
  p->second = ~v;
  p->rare = 0;
  persist(p, sizeof *p);
}
std::uint64_t sum(const Pair* p) { return p->first + p->second + p->rare; }
bool agree(const Pair* p) { return p->first == ~p->second; }

std::uint64_t both1(const Pair* p) { return p->left + p->right; }
std::uint64_t both2(const Pair* p) { return p->left - p->right; }
std::uint64_t both3(const Pair* p) { return p->left * p->right; }
std::uint64_t left1(const Pair* p) { return p->left; }
std::uint64_t left2(const Pair* p) { return p->left + 1; }
std::uint64_t right1(const Pair* p) { return p->right; }
std::uint64_t right2(const Pair* p) { return p->right + 1; }
