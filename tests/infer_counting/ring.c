// Rings: two numbers that only grow, or go round themselves, or a start and a length. What is read lies between them;
// a read beyond them, or of a table by a hash, is of no ring.
// RUN: %counting %cc %blackout %t %s | FileCheck %s
#include <stdint.h>

#include "../infer_shapes/Inputs/pm.h"

// Numbers that only grow.
struct Ring {
  uint64_t head, tail;
  uint64_t item[8];
};
int put(struct Ring* r, uint64_t v) {
  if (r->tail - r->head == 8) return 0;
  r->item[r->tail % 8] = v;
  persist(&r->item[r->tail % 8]);
  r->tail++;
  persist(&r->tail);
  return 1;
}
uint64_t take(struct Ring* r) {
  if (r->head == r->tail) return 0;
  uint64_t v = r->item[r->head % 8];
  r->head++;
  persist(&r->head);
  return v;
}
uint64_t sum(struct Ring* r) {
  uint64_t all = 0;
  for (uint64_t i = r->head; i != r->tail; ++i) all += r->item[i & 7];
  return all;
}
uint64_t newest(struct Ring* r) { return r->head == r->tail ? 0 : r->item[(r->tail - 1) % 8]; }

// A start and how many there are, in a ring whose size is no power of two.
struct Deque {
  uint32_t first, count;
  uint64_t slot[10];
};
void push(struct Deque* d, uint64_t v) {
  d->slot[(d->first + d->count) % 10] = v;
  persist(&d->slot[0]);
  d->count++;
  persist(&d->count);
}
uint64_t all(struct Deque* d) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < d->count; ++i) sum += d->slot[(d->first + i) % 10];
  return sum;
}
void drop(struct Deque* d) {
  d->first = (d->first + 1) % 10;
  persist(&d->first);
  d->count--;
  persist(&d->count);
}

// Behind a pointer, with a capacity; the numbers go round themselves.
struct Log {
  uint64_t capacity, from, to;
  uint64_t* entry;
};
void append(struct Log* l, uint64_t v) {
  l->entry[l->to] = v;
  persist(&l->entry[l->to]);
  l->to = (l->to + 1) % l->capacity;
  persist(&l->to);
}
uint64_t oldest(struct Log* l) {
  if (l->from == l->to) return 0;
  uint64_t v = l->entry[l->from];
  l->from = (l->from + 1) % l->capacity;
  persist(&l->from);
  return v;
}

// No ring: reads don't ask what is in it.
struct Circle {
  uint64_t begin, end;
  uint64_t part[8];
};
void paint(struct Circle* c, uint64_t v) {
  c->part[c->end % 8] = v;
  persist(&c->part[0]);
  c->end++;
  c->begin++;
  persist(&c->end);
}
uint64_t at(struct Circle* c, uint64_t n) { return c->part[(c->begin + n) % 8]; }

// CHECK-DAG: Ring.item[] {{ *}}~ Ring.tail {{ *}}every one of 3 reads stays between head and tail {{ *}}updated together at ring.c:15, 17
// CHECK-DAG: Deque.slot[] {{ *}}~ Deque.count {{ *}}the one read stays within count of first {{ *}}updated together at ring.c:41, 43
// CHECK-DAG: Log.entry[] {{ *}}~ Log.to {{ *}}the one read stays between from and to {{ *}}updated together at ring.c:64, 66
// CHECK-DAG: no property of Circle.part[] and Circle.end: 0 of 1 reads
