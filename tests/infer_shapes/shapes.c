// One function for each shape of a test, each over a struct of its own.
//
// RUN: %guardians %cc %blackout %t %s | FileCheck %s
#include "Inputs/pm.h"

struct Flag {
  uint64_t value;
  int valid;
};
uint64_t flag(struct Flag* f) {
  if (!f->valid) return 0;
  return f->value;
}
void set_flag(struct Flag* f) {
  f->value = 1;
  persist(&f->value);
  f->valid = 1;
  persist(&f->valid);
}

struct Count {
  uint64_t entries[16];
  unsigned count;
};
uint64_t count(struct Count* c) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < c->count; ++i) sum += c->entries[i];
  return sum;
}
uint64_t bound(struct Count* c, unsigned i) { return i < c->count ? c->entries[i] : 0; }
void persist_count(struct Count* c) { persist(&c->count); }

struct Link {
  uint64_t key;
  struct Link* next;
};
struct Head {
  struct Link* first;
  struct Link* spare;
};
uint64_t null_check(struct Head* h) {
  if (h->first != NULL) return h->first->key;
  return 0;
}
uint64_t chase(struct Head* h) { return h->spare->key; }
void persist_links(struct Head* h) { persist(&h->first); }

struct Slots {
  uint64_t slot[8];
  uint64_t head;
};
uint64_t indexed(struct Slots* s) { return s->slot[s->head % 8]; }
void persist_slots(struct Slots* s) { persist(&s->head); }

struct Seq {
  uint64_t begun, ended;
  uint64_t data;
  uint64_t version;
  uint64_t shared;
};
uint64_t two_fields(struct Seq* s) {
  if (s->begun == s->ended) return s->data;
  return 0;
}
uint64_t two_reads(struct Seq* s) {
  uint64_t before, value;
  do {
    before = __atomic_load_n(&s->version, __ATOMIC_ACQUIRE);
    value = s->shared;
  } while (before != __atomic_load_n(&s->version, __ATOMIC_ACQUIRE));
  return value;
}
void persist_seq(struct Seq* s) { persist(&s->begun); }

struct Sum {
  uint64_t bytes[8];
  uint64_t sum;
  uint64_t payload;
};
static uint64_t sum_of(const uint64_t* p, int n) {
  uint64_t s = 0;
  for (int i = 0; i < n; ++i) s = s * 31 + p[i];
  return s;
}
uint64_t checksum(struct Sum* s) {
  if (sum_of(s->bytes, 8) != s->sum) return 0;
  return s->payload;
}
void persist_sum(struct Sum* s) { persist(&s->sum); }

struct Lock {
  uint64_t owner;
  uint64_t owned;
};
uint64_t compare_and_swap(struct Lock* l) {
  uint64_t none = 0;
  while (!__atomic_compare_exchange_n(&l->owner, &none, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) none = 0;
  if (!__atomic_compare_exchange_n(&l->owner, &none, 2, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return 0;
  return l->owned;
}
void persist_lock(struct Lock* l) { persist(&l->owner); }

struct Bits {
  uint64_t taken;
  uint64_t word[64];
};
uint64_t bit_mask(struct Bits* b, unsigned i) { return b->taken & (UINT64_C(1) << i) ? b->word[i] : 0; }
uint64_t bit_shift(struct Bits* b, unsigned i) { return (b->taken >> i) & 1 ? b->word[i] : 0; }
void persist_bits(struct Bits* b) { persist(&b->taken); }

struct Machine {
  int state;
  int a, b;
};
int switch_on(struct Machine* m) {
  switch (m->state) {
    case 1:
      return m->a;
    case 2:
      return m->b;
    default:
      return 0;
  }
}
void persist_machine(struct Machine* m) { persist(&m->state); }

struct Tree {
  uint64_t key;
  uint64_t value;
};
uint64_t comparison(struct Tree* t, uint64_t key) { return t->key == key ? t->value : 0; }
void persist_tree(struct Tree* t) { persist(&t->key); }

// CHECK: shapes.c:107 tests bits of Bits.taken before shapes.c:107 reads Bits.word[] (bit mask)
// CHECK-NEXT: shapes.c:108 tests bits of Bits.taken before shapes.c:108 reads Bits.word[] (bit mask)
// CHECK-NEXT: shapes.c:27 counts up to Count.count before shapes.c:27 reads Count.entries[] (count)
// CHECK-NEXT: shapes.c:30 counts up to Count.count before shapes.c:30 reads Count.entries[] (count)
// CHECK-NEXT: shapes.c:11 tests Flag.valid before shapes.c:12 reads Flag.value (flag)
// CHECK-NEXT: shapes.c:42 tests Head.first before shapes.c:42 reads Head.first (null check)
// CHECK-NEXT: shapes.c:42 tests Head.first before shapes.c:42 reads Link.key (null check)
// CHECK-NEXT: shapes.c:45 follows Head.spare before shapes.c:45 reads Link.key (pointer)
// CHECK-NEXT: shapes.c:97 swaps Lock.owner before shapes.c:99 reads Lock.owned (compare-and-swap)
// CHECK-NEXT: shapes.c:97 swaps Lock.owner before shapes.c:98 reads Lock.owner (compare-and-swap)
// CHECK-NEXT: shapes.c:116 switches on Machine.state before shapes.c:118 reads Machine.a (switch)
// CHECK-NEXT: shapes.c:116 switches on Machine.state before shapes.c:120 reads Machine.b (switch)
// CHECK-NEXT: shapes.c:62 compares Seq.begun before shapes.c:62 reads Seq.data (version pair)
// CHECK-NEXT: shapes.c:62 compares Seq.ended before shapes.c:62 reads Seq.data (version pair)
// CHECK-NEXT: shapes.c:68 compares Seq.version before shapes.c:69 reads Seq.shared (version pair)
// CHECK-NEXT: shapes.c:70 compares Seq.version before shapes.c:68 reads Seq.version (version pair)
// CHECK-NEXT: shapes.c:68 compares Seq.version before shapes.c:70 reads Seq.version (version pair)
// CHECK-NEXT: shapes.c:52 follows Slots.head before shapes.c:52 reads Slots.slot[] (pointer)
// CHECK-NEXT: shapes.c:82 checks Sum.bytes[] before shapes.c:87 reads Sum.payload (checksum)
// CHECK-NEXT: shapes.c:86 checks Sum.sum before shapes.c:87 reads Sum.payload (checksum)
// CHECK-NEXT: shapes.c:131 compares Tree.key before shapes.c:131 reads Tree.value (comparison)
// CHECK-NEXT: Seq.begun and Seq.ended guard Seq.data together shapes.c:62
// CHECK-NEXT: Sum.bytes[] and Sum.sum guard Sum.payload together shapes.c:82, 86
// CHECK-NOT: {{.}}
