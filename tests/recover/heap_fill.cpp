// Fresh memory of a persistent heap has a content that is not zero: a node whose `next = nullptr` is lost leads astray.
// Where it has zeros (--heap-fill 0, calloc) the store is not missed.
//
// RUN: %cxx -O1 -std=c++20 %s -o %t
// RUN: not %blackout check --heap 4 --findings %t.found -- %t malloc 2>&1 | FileCheck %s
// RUN: not %blackout check --heap 4 --heap-fill 0xff --findings %t.found -- %t malloc 2>&1 | FileCheck %s
// RUN: not %blackout check --heap 4 --findings %t.found -- %t large 2>&1 | FileCheck %s
// RUN: %blackout check --heap 4 --heap-fill 0 --findings %t.found -- %t malloc
// RUN: %blackout check --heap 4 --findings %t.found -- %t calloc
// RUN: %blackout check --heap 4 --findings %t.found -- %t calloc-large
// RUN: not %blackout check --heap 4 --heap-fill 256 -- %t malloc 2>&1 | FileCheck --check-prefix=RANGE %s
// RUN: not %blackout check --pm %t.pool --heap-fill 1 -- %t malloc 2>&1 | FileCheck --check-prefix=ALONE %s
// CHECK: Node.next
// RANGE: --heap-fill: {{.*}}it is a number from 0 to 255
// ALONE: --heap-fill requires --heap
#include <blackout/blackout.h>
#include <emmintrin.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct Node {
  uint64_t value;
  uint64_t rest[7];
  Node* next;  // in a line of its own
  char payload[56];
};

int main(int, char** argv) {
  auto** root = reinterpret_cast<Node**>(blackout_root(0));
  if (*root != nullptr) {
    for (Node* n = *root; n != nullptr; n = n->next)
      if (n->value != 42) return 1;
    return 0;
  }
  size_t size = strstr(argv[1], "large") != nullptr ? 100000 : sizeof(Node);
  bool zeros = strstr(argv[1], "calloc") != nullptr;
  auto* node = static_cast<Node*>(zeros ? calloc(1, size) : malloc(size));
  node->value = 42;
  if (!zeros) node->next = nullptr;
  _mm_clflush(node);
  _mm_sfence();
  *root = node;
  _mm_clflush(root);
  _mm_sfence();
}
