// A specification of one's own: an account that is never overdrawn.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %cxx -std=c++17 -O2 -g -Wall -Wextra -Werror -I%include %s -o account
// RUN: %blackout check --pm pool -- ./account pool 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: SUMMARY: blackout: no findings;
// RUN: env BUG=1 not %blackout check --pm pool -- ./account pool --seed 3 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: shown: {{.*}}[missing-flush]
// WRONG: 'an order of the operations explains the answers' does not hold
// RUN: %blackout lin --pm pool --operations 12 -- ./account pool 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: env BUG=1 not %blackout lin --pm pool -- ./account pool 2>&1 | FileCheck %s --check-prefix=WRONG
// A list of calls: each is the one that its number makes.
// RUN: ./account other --operations 6 --list-ops calls.ops && rm other && test $(grep -c "^call [0-9]*$" calls.ops) = 6
// RUN: %blackout lin --pm pool --ops calls.ops -- ./account pool 2>&1 | FileCheck %s --check-prefix=RIGHT
// Without Blackout, and by a plain compiler.
// RUN: g++ -std=c++17 -O2 -g -I%include %s -o plain && ./plain other && rm other
// RUN: env BUG=1 not %blackout check --pm pool -- ./plain pool --seed 3 2>&1 | FileCheck %s --check-prefix=WRONG
#include <blackout/lin.hpp>

#include "Inputs/pool.h"

struct Spec {
  struct Call {
    enum { Credit, Debit, Balance } what;
    uint64_t n;  // of a balance: what it is
    bool done;   // of a debit
  };
  uint64_t sum = 0;
  static Call make(blackout::lin::Random& random) {
    return {decltype(Call::what)(random.below(3)), 1 + random.below(9), false};
  }
  bool apply(const Call& c, bool answered) {
    bool covered = c.what != Call::Debit || c.n <= sum;
    if (answered && (c.what == Call::Balance ? c.n != sum : c.what == Call::Debit && c.done != covered)) return false;
    if (c.what == Call::Credit) sum += c.n;
    if (c.what == Call::Debit && covered) sum -= c.n;
    return true;
  }
  bool operator==(const Spec& o) const { return sum == o.sum; }
  size_t hash() const { return sum; }
};

struct Root {
  uint64_t balance;
};

struct Account {
  static Account* open(const char* pool) { return new Account{mapPool<Root>(pool)}; }
  Root* root;
  void call(Spec::Call& c) {
    if (c.what == Spec::Call::Balance) {
      c.n = root->balance;
      return;
    }
    c.done = c.what == Spec::Call::Credit || c.n <= root->balance;
    if (!c.done) return;
    root->balance += c.what == Spec::Call::Credit ? c.n : -c.n;
    if (bug() != 1 || c.what == Spec::Call::Credit) persist(root);
  }
};

BLACKOUT_SPEC(Account, Spec)
