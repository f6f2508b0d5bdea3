// With a trace: instances of guardians and likely commit stores, by the ids that code and trace share, at any level.
// RUN: %cxx -std=c++17 -g -O0 -I %include %s -o %t0 && %cxx -std=c++17 -g -O2 -I %include %s -o %t2
// RUN: rm -f %t.pool; %blackout infer --pm %t.pool %t0 --commits -- %t0 %t.pool 2>&1 | FileCheck %s
// RUN: rm -f %t.pool; %blackout infer --pm %t.pool --commits -- %t2 %t.pool 2>&1 | FileCheck %s
// A trace that was recorded before; one without loads says so.
// RUN: %blackout record --loads --pm %t.pool -o %t.trace -- %t2 %t.pool && %blackout infer %t2 --trace %t.trace --commits | FileCheck %s
// RUN: %blackout record --pm %t.pool -o %t.trace -- %t2 %t.pool
// RUN: %blackout infer %t2 --trace %t.trace > %t.out 2>&1; test $? -eq 3; FileCheck %s --check-prefix=NOLOADS < %t.out
// NOLOADS: inconclusive: the trace has no loads
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "Inputs/persist.h"

struct Node {
  std::atomic<std::uint64_t> valid;
  std::uint64_t data;
  std::atomic<Node*> next;
};
struct Pool {
  std::atomic<Node*> head;
  std::uint64_t used;
  alignas(64) Node nodes[8];
};

static void push(Pool* pool, std::uint64_t data) {
  Node* node = &pool->nodes[pool->used];
  node->data = data;
  node->next = pool->head.load();
  node->valid = 1;
  persist(node, sizeof *node);
  // CHECK: Node.next {{ *}}guards Node.data, Node.valid {{ *}}read at trace.cpp:50, set at trace.cpp:33
  // CHECK-NEXT: in the trace: 3 instances, 0 likely commit stores
  // CHECK-NEXT: Node.valid {{ *}}guards Node.data {{ *}}read at trace.cpp:51, set at trace.cpp:34
  // CHECK-NEXT: in the trace: 3 instances, 0 likely commit stores
  // CHECK-NEXT: Pool.head {{ *}}guards Node.data, Node.next, Node.valid {{ *}}read at trace.cpp:50, set at trace.cpp:42, 65
  // CHECK-NEXT: in the trace: 1 instance, 4 likely commit stores
  pool->head = node;
  persist(&pool->head, sizeof pool->head);
  pool->used++;
  persist(&pool->used, sizeof pool->used);
}

static std::uint64_t sum(Pool* pool) {
  std::uint64_t total = 0;
  for (Node* n = pool->head; n != nullptr; n = n->next)
    if (n->valid) total += n->data;
  return total;
}

// Likely commit stores, by place: the publication, not what was written before it into a node that nothing led to.
// CHECK: Likely commit stores
// CHECK-NEXT: trace.cpp:42 (3 times): sets Pool.head by a locked instruction: trace.cpp:50 tests Pool.head before trace.cpp:51 reads Node.data
// CHECK-NEXT: trace.cpp:65: sets Pool.head
// CHECK: 17 stores in the trace, 4 are likely to commit (23.5%): 10 go to guardians, 8 to what was already reachable

int main(int, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, 4096) != 0) return 1;
  auto* pool = static_cast<Pool*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  pool->head = nullptr;
  pool->used = 0;
  for (std::uint64_t i = 1; i <= 3; ++i) push(pool, i);
  return sum(pool) == 6 ? 0 : 1;
}
