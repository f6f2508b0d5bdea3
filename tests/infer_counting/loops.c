// Loops that shift, that go down, that end early, that test at their end, that wrap around.
// RUN: %counting %cc %blackout %t %s | FileCheck %s
#include <stdint.h>
#include <string.h>

#include "../infer_shapes/Inputs/pm.h"

struct Log {
  uint64_t count;
  uint64_t item[32];
};

void push(struct Log* l, uint64_t v) {
  l->item[l->count] = v;
  persist(&l->item[0]);
  l->count++;
  persist(&l->count);
}

uint64_t pop(struct Log* l) {
  if (l->count == 0) return 0;
  uint64_t v = l->item[l->count - 1];  // line 22
  l->count--;
  persist(&l->count);
  return v;
}

// Shifts down.
void drop_first(struct Log* l) {
  for (uint64_t i = 1; i < l->count; ++i) l->item[i - 1] = l->item[i];  // line 30
  persist(&l->item[0]);
  if (l->count > 0) l->count -= 1;
  persist(&l->count);
}

// Goes down, and ends by wrapping around.
uint64_t last(struct Log* l, uint64_t below) {
  for (uint64_t i = l->count - 1; i < l->count; --i)
    if (l->item[i] < below) return i;  // line 39
  return 0;
}

// Goes down to 1.
uint64_t backwards(struct Log* l) {
  uint64_t all = 0;
  for (uint64_t i = l->count; i > 0; --i) all = all * 31 + l->item[i - 1];  // line 46
  return all;
}

// Ends early.
int has(struct Log* l, uint64_t v) {
  for (uint64_t i = 0; i < l->count; ++i) {
    if (l->item[i] == v) return 1;   // line 53
    if (l->item[i] > v) break;       // line 54
  }
  return 0;
}

// Tests at its end.
uint64_t most(struct Log* l) {
  uint64_t i = 0, best = 0;
  if (l->count == 0) return 0;
  do {
    if (l->item[i] > best) best = l->item[i];  // line 64
  } while (++i != l->count);
  return best;
}

// With a pointer that moves.
uint64_t walk(struct Log* l) {
  uint64_t all = 0;
  for (uint64_t* p = l->item; p != l->item + l->count; ++p) all += *p;  // line 72
  return all;
}

// A copy of all.
void copy(struct Log* l, uint64_t* out) { memcpy(out, l->item, l->count * sizeof(uint64_t)); }  // line 77

// Every other one.
uint64_t half(struct Log* l) {
  uint64_t all = 0;
  for (uint64_t i = 0; i < l->count; i += 2) all += l->item[i];  // line 82
  return all;
}

// CHECK: Log.item[] ~ Log.count  every one of 11 reads stays below count
// CHECK-NEXT: loops.c:22: proven
// CHECK-NEXT: loops.c:30: proven
// CHECK-NEXT: loops.c:39: proven
// CHECK-NEXT: loops.c:46: proven
// CHECK-NEXT: loops.c:53: proven
// CHECK-NEXT: loops.c:54: proven
// CHECK-NEXT: loops.c:64: proven
// CHECK-NEXT: loops.c:64: proven
// CHECK-NEXT: loops.c:72: proven
// CHECK-NEXT: loops.c:77: proven
// CHECK-NEXT: loops.c:82: proven
