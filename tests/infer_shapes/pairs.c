// Fields that must be changed together: one condition tests both, one read stands under both, each guards the other.
//
// RUN: %guardians %cc %blackout %t %s | FileCheck %s
#include "Inputs/pm.h"

struct Log {
  uint64_t head, tail;
  uint64_t entry[16];
  uint64_t sealed, open, body;
  uint64_t left, right;
  uint64_t first, second, third;
};
void persist_log(struct Log* l) { persist(&l->head); }

/* One condition. */
uint64_t together(struct Log* l, unsigned i) {
  if (l->head == 1 && l->tail == 2) return l->entry[i];
  return 0;
}

/* Something happens between the two tests. */
static int seen;
uint64_t nested(struct Log* l) {
  if (!l->sealed) return 0;
  ++seen;
  if (!l->open) return 0;
  return l->body;
}

/* In two functions, the other way round. */
uint64_t one_way(struct Log* l) { return l->left ? l->right : 0; }
uint64_t other_way(struct Log* l) { return l->right ? l->left : 0; }

/* Three in a row, with an or. */
uint64_t three(struct Log* l, unsigned i) {
  if (l->first && (l->second || l->third)) return l->entry[i];
  return 0;
}

// CHECK: pairs.c:36 tests Log.first before pairs.c:36 reads Log.entry[] (flag)
// CHECK-NEXT: pairs.c:36 tests Log.first before pairs.c:36 reads Log.second (flag)
// CHECK-NEXT: pairs.c:36 tests Log.first before pairs.c:36 reads Log.third (flag)
// CHECK-NEXT: pairs.c:17 tests Log.head before pairs.c:17 reads Log.entry[] (flag)
// CHECK-NEXT: pairs.c:17 tests Log.head before pairs.c:17 reads Log.tail (flag)
// CHECK-NEXT: pairs.c:31 tests Log.left before pairs.c:31 reads Log.right (flag)
// CHECK-NEXT: pairs.c:26 tests Log.open before pairs.c:27 reads Log.body (flag)
// CHECK-NEXT: pairs.c:32 tests Log.right before pairs.c:32 reads Log.left (flag)
// CHECK-NEXT: pairs.c:24 tests Log.sealed before pairs.c:27 reads Log.body (flag)
// CHECK-NEXT: pairs.c:24 tests Log.sealed before pairs.c:26 reads Log.open (flag)
// CHECK-NEXT: pairs.c:36 tests Log.second before pairs.c:36 reads Log.entry[] (flag)
// CHECK-NEXT: pairs.c:36 tests Log.second before pairs.c:36 reads Log.third (flag)
// CHECK-NEXT: pairs.c:17 tests Log.tail before pairs.c:17 reads Log.entry[] (flag)
// CHECK-NEXT: pairs.c:36 tests Log.third before pairs.c:36 reads Log.entry[] (flag)
// CHECK-NEXT: Log.first and Log.second guard Log.entry[] together pairs.c:36
// CHECK-NEXT: Log.first and Log.third guard Log.entry[] together pairs.c:36
// CHECK-NEXT: Log.head and Log.tail guard Log.entry[] together pairs.c:17
// CHECK-NEXT: Log.second and Log.third guard Log.entry[] together pairs.c:36
// CHECK-NEXT: Log.open and Log.sealed guard Log.body, one under the other pairs.c:24, 26
// CHECK-NEXT: Log.left and Log.right guard each other pairs.c:31, 32
// CHECK-NOT: {{.}}
