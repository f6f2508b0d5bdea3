// What looks like a counter and is none: reads go beyond it, nothing changes it, nothing changes both, it is not
// persistent, or the array is on the stack.
// RUN: %counting %cc %blackout %t %s | FileCheck %s
#include <stdint.h>

#include "../infer_shapes/Inputs/pm.h"

struct Table {
  uint64_t count;     // of what is used, anywhere in it
  uint64_t fixed;     // nobody changes it
  uint64_t apart;     // changed, but never with the table
  uint64_t slot[64];
};

void put(struct Table* t, uint64_t key) {
  t->slot[key % 64] = key;
  persist(&t->slot[key % 64]);
  t->count++;
  persist(&t->count);
}

uint64_t get(struct Table* t, uint64_t key) { return t->slot[key % 64]; }

uint64_t all(struct Table* t) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < t->fixed; ++i) sum += t->slot[i];
  return sum;
}

uint64_t some(struct Table* t) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < t->apart; ++i) sum += t->slot[i];
  return sum;
}

void set_apart(struct Table* t, uint64_t n) {
  t->apart = n;
  persist(&t->apart);
}

// One beyond.
struct Inclusive {
  uint64_t last;
  uint64_t item[8];
};
uint64_t inclusive(struct Inclusive* s) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i <= s->last; ++i) sum += s->item[i];
  return sum;
}
void grow(struct Inclusive* s, uint64_t v) {
  s->item[s->last + 1] = v;
  s->last++;
  persist(s);
}

// In memory that is not persistent: nothing of it is flushed.
struct Scratch {
  uint64_t used;
  uint64_t bits[8];
};
void add(struct Scratch* s, uint64_t v) { s->bits[s->used++] = v; }
uint64_t any(struct Scratch* s) {
  for (uint64_t i = 0; i < s->used; ++i)
    if (s->bits[i] != 0) return 1;
  return 0;
}

// CHECK-NOT: {{ ~ }}
// CHECK: no property of Inclusive.item[] and Inclusive.last: 0 of 1 reads stay below last (1 refuted); not with Inclusive.last =
// CHECK-NEXT: lookalikes.c:48: refuted: Inclusive.last =
// CHECK-NEXT: no property of Scratch.bits[] and Scratch.used: nothing shows that it is persistent
// CHECK-NEXT: no property of Table.slot[] and Table.apart: nothing updates both
// CHECK-NEXT: no property of Table.slot[] and Table.count: 0 of 1 reads stay below count (1 refuted); not with any values
// CHECK-NEXT: lookalikes.c:22: refuted: any values: nothing relates the two
// CHECK-NEXT: no property of Table.slot[] and Table.fixed: the counter never changes
// CHECK-NEXT: 0 arrays
