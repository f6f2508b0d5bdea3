/* An allocator with a bitmap, in C. The bit of a block is durable before a root leads to the block, so that a crash may
 * lose a block but never gives one out twice. A restart exits with 3 if a root leads to a block that counts as free. */
#include "pm.h"

#define MAGIC 0x636f6c6c61u
#define ROOTS 4u

typedef struct {
  _Alignas(PM_LINE) volatile uint64_t owner;
} Block;

typedef struct {
  volatile uint64_t magic;                         /* written last */
  _Alignas(PM_LINE) volatile uint64_t used;        /* a bit for each block */
  _Alignas(PM_LINE) volatile uint64_t root[ROOTS]; /* block, from 1 */
  Block block[64];
} Heap;

static Heap* heap;

static void allocate(unsigned root) {
  const unsigned free_block = (unsigned)__builtin_ctzll(~heap->used);
  const uint64_t bit = UINT64_C(1) << free_block;
  Block* block = &heap->block[free_block];
  block->owner = root + 1;
  pm_persist(block, sizeof *block);
#if BUG == 1
  heap->root[root] = free_block + 1; /* (relies 1) */
  pm_persist((void*)&heap->root[root], sizeof heap->root[root]);
#endif
  heap->used = heap->used | bit; /* (lost 1, 2) */
#if BUG == 2
  pm_fence();
#else
  pm_persist((void*)&heap->used, sizeof heap->used);
#endif
#if BUG != 1
  heap->root[root] = free_block + 1; /* (relies 2) */
  pm_persist((void*)&heap->root[root], sizeof heap->root[root]);
#endif
}

static int check(void) {
  const uint64_t used = heap->used;
  for (unsigned i = 0; i < ROOTS; ++i) {
    const uint64_t block = heap->root[i];
    if (block == 0) continue;
    if (!(used >> (block - 1) & 1)) return 3;
    if (heap->block[block - 1].owner != i + 1) return 4;
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: alloc POOL");
  heap = pm_map(argv[1], sizeof *heap);
  if (heap->magic == MAGIC) return check();
  heap->magic = MAGIC;
  pm_persist((void*)&heap->magic, sizeof heap->magic);
  for (unsigned i = 0; i < ROOTS; ++i) allocate(i);
  return 0;
}
