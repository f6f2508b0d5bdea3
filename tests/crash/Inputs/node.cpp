// A root that leads to a node, with one mistake by KIND: 0 none, 1 flush missing, 2 fence missing, 3 wrong order, 4 not
// atomic (two words that must be equal), 5 wrong by itself. Started again it follows the root and divides by what it
// finds.
#include <blackout/blackout.h>
#include <immintrin.h>

#include "Inputs/pool.h"

struct alignas(64) Node {
  uint64_t value;
};
struct Pool {
  alignas(64) Node* root;
  alignas(64) uint64_t first;
  alignas(64) uint64_t second;
  Node nodes[64];
};

static void flush(const void* p) { _mm_clwb(const_cast<void*>(p)); }
static void fence() { _mm_sfence(); }

__attribute__((noinline)) static uint64_t lookUp(const Pool* pool) {
  const Node* node = pool->root;
  return node == nullptr ? 0 : 100 / node->value;
}

__attribute__((noinline)) static void put(Pool* pool, unsigned i) {
  Node* node = &pool->nodes[i];
  node->value = KIND == 5 ? 0 : i + 1;  // LOST
#if KIND == 1
#elif KIND == 2
  flush(node);
#elif KIND == 3
  pool->root = node;
  flush(&pool->root);
  fence();
  flush(node);
  fence();
  return;
#else
  flush(node);
  fence();
#endif
  pool->root = node;  // SURVIVES
  flush(&pool->root);
  fence();
}

__attribute__((noinline)) static void both(Pool* pool, uint64_t value) {
  pool->first = value;   // BEGINS
  pool->second = value;  // COMPLETES
  flush(&pool->first);
  flush(&pool->second);
  fence();
}

int main(int argc, char** argv) {
  auto* pool = static_cast<Pool*>(mapPool(argv[1], sizeof(Pool)));
  printf("found %d\n", static_cast<int>(lookUp(pool)));
  fflush(stdout);
  if (pool->first != pool->second) return 3;
  if (blackout_recovering()) return 0;
  unsigned count = argc > 2 ? static_cast<unsigned>(atoi(argv[2])) : 2;
  for (unsigned i = 0; i < count; ++i) {
    blackout_op_begin("put", i);
    put(pool, i);
    blackout_op_end(0);
  }
#if KIND == 4
  both(pool, 7);
#endif
}
