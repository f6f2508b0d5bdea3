// The example of the paper: an insertion shifts what is behind it, and the size follows. Reads of the array stay below
// the size; that the element behind the last is written does not count.
// RUN: %counting %cc %blackout %t %s | FileCheck %s
#include <stdint.h>

#include "../infer_shapes/Inputs/pm.h"

struct Node {
  int size;
  int array[16];
  int other;
};

void insert(struct Node* n, int p, int value) {
  for (int i = n->size - 1; i >= p; i--) n->array[i + 1] = n->array[i];
  n->array[p] = value;
  persist(n->array);
  n->size += 1;
  persist(&n->size);
  n->other = value;
}

int sum(const struct Node* n) {
  int all = n->other;
  for (int i = 0; i < n->size; i++) all += n->array[i];
  return all;
}

// CHECK: Node.array[] ~ Node.size  every one of 2 reads stays below size  updated together at insertion.c:15, 16, 18
// CHECK-NEXT: insertion.c:15: proven
// CHECK-NEXT: insertion.c:25: proven
// CHECK-NEXT: no property of Node.array[] and Node.other: 0 of 1 reads stay below other (1 refuted); not with
// CHECK-NEXT: refuted: any values: nothing relates the two
// CHECK-NEXT: 1 array with its counter
