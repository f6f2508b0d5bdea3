// A magic number, set to what it is tested for, speaks for its struct. A flag that is cleared under its own test speaks for
// what is restored there, and not for its struct, let alone for other objects.
// RUN: %guardians %cc %blackout %t %s | FileCheck %s
#include <stdint.h>

#include "../infer_command/Inputs/persist.h"

struct Root {
  uint64_t magic, first;
};
struct Bin {
  uint64_t dirty, content;
};
struct Bank {
  uint64_t pending, saved, amount, owner;
};

uint64_t openRoot(struct Root* root) {
  if (root->magic != 4711) {
    root->magic = 4711;
    persist(root, sizeof *root);
  }
  return root->first;
}

void empty(struct Bin* bin) {
  if (bin->dirty) {
    bin->dirty = 0;
    persist(bin, sizeof *bin);
  }
}
uint64_t look(struct Bin* bin) { return bin->content; }

void restore(struct Bank* bank) {
  if (bank->pending) {
    bank->amount = bank->saved;
    persist(bank, sizeof *bank);
    bank->pending = 0;
    persist(bank, sizeof *bank);
  }
}
uint64_t amount(struct Bank* bank) { return bank->amount + bank->owner; }

// CHECK-NOT: Bin
// CHECK: set_up.c:35 tests Bank.pending before set_up.c:42 reads Bank.amount (flag)
// CHECK-NEXT: set_up.c:35 tests Bank.pending before set_up.c:36 reads Bank.saved (flag)
// CHECK-NOT: Bank.owner
// CHECK-NOT: Bin
// CHECK: set_up.c:19 tests Root.magic before set_up.c:23 reads Root.first (flag)
// CHECK-NOT: Bin
