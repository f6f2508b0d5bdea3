// What contains a persistent struct is persistent with it, but not if such objects stand on the stack: the arguments of a
// function in a struct, with a persistent pointer among them.
// RUN: %guardians %cc %blackout %t %s | FileCheck %s
#include <stdint.h>

#include "../infer_command/Inputs/persist.h"

struct Link {
  uint64_t offset;
};
struct Node {
  uint64_t live, data;
  struct Link link;
};
struct Arguments {
  uint64_t count, limit;
  struct Link first;
};

void set(struct Node* n) {
  n->link.offset = 64;
  persist(&n->link, sizeof n->link);
}

uint64_t look(struct Node* n) { return n->live ? n->data : 0; }

// Too large to be inlined.
uint64_t many(struct Arguments* a, uint64_t* out) {
  uint64_t sum = 0;
  if (a->count) sum += a->limit;
#define AGAIN(n) out[n] += sum * n + a->first.offset; out[n + 1] ^= out[n] / (sum + 1); sum += out[n] % (n + 7);
  AGAIN(1) AGAIN(2) AGAIN(3) AGAIN(4) AGAIN(5) AGAIN(6) AGAIN(7) AGAIN(8) AGAIN(9) AGAIN(10) AGAIN(11) AGAIN(12)
  AGAIN(13) AGAIN(14) AGAIN(15) AGAIN(16) AGAIN(17) AGAIN(18) AGAIN(19) AGAIN(20) AGAIN(21) AGAIN(22) AGAIN(23)
  return sum;
}

uint64_t start(uint64_t* out) {
  struct Arguments a = {1, 2, {3}};
  return many(&a, out);
}

// CHECK-NOT: before {{.*}} reads Arguments.limit
// CHECK: containers.c:25 tests Node.live before containers.c:25 reads Node.data (flag)
// CHECK-NOT: before {{.*}} reads Arguments.limit
