// Two loads of different fields that the optimiser made one: the stores tell which field an address is.
// RUN: for level in 0 1 2; do %cxx -std=c++17 -g -O$level %s -o %t.$level && rm -f %t.pool && \
// RUN:   %blackout infer --pm %t.pool --commits -- %t.$level %t.pool > %t.out && FileCheck %s < %t.out || exit 1; done
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "Inputs/persist.h"

struct Node {
  std::uint64_t key;
  Node* next;
};
struct Pool {
  Node* head;
  std::uint64_t used;
  alignas(64) Node nodes[32];
};

static void push(Pool* pool, std::uint64_t key) {
  Node* node = &pool->nodes[pool->used];
  node->key = key;
  node->next = pool->head;
  persist(node, sizeof *node);
  pool->head = node;
  persist(&pool->head, sizeof pool->head);
  pool->used++;
  persist(&pool->used, sizeof pool->used);
}

static std::uint64_t sum(Pool* pool) {
  std::uint64_t total = 0;
  for (Node* node = pool->head; node != nullptr; node = node->next) total += node->key;
  return total;
}

int main(int, char** argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, 4096) != 0) return 1;
  auto* pool = static_cast<Pool*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  for (std::uint64_t i = 1; i <= 4; ++i) push(pool, i);
  return sum(pool) == 10 ? 0 : 1;
}

// CHECK: Node.next
// CHECK-NEXT: in the trace: 4 instances, 0 likely commit stores
// CHECK: Pool.head
// CHECK-NEXT: in the trace: 1 instance, 4 likely commit stores
// CHECK: merged.cpp:27 (4 times): sets Pool.head
