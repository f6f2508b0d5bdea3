/* A list of free blocks, in C. The first word of a block is the number of the next free one while it is free, and its
 * owner's otherwise. Taking: the head moves, durably, before the owner writes. Giving back: the block's word is durable
 * before the head leads to it. A restart expects that the list leads from free block to free block. */
#include "pm.h"

#define MAGIC 0x65657266u
#define BLOCKS 4u
#define OWNED 0xabcdef00u

typedef struct {
  _Alignas(PM_LINE) volatile uint64_t word;
} Block;

typedef struct {
  volatile uint64_t magic;                  /* written last */
  _Alignas(PM_LINE) volatile uint64_t head; /* from 1; 0: no block is free */
  Block block[BLOCKS];
} Pool;

static const char* path;
static Pool* pool;

#define PERSIST(what) pm_persist((void*)&(what), sizeof(what))

static uint64_t take(void) {
  const uint64_t number = pool->head;
  Block* block = &pool->block[number - 1];
  pool->head = block->word; /* (lost 2) */
#if BUG == 2
  block->word = OWNED + number; /* (relies 2) */
  PERSIST(*block);
  PERSIST(pool->head);
#else
  PERSIST(pool->head);
  block->word = OWNED + number;
  PERSIST(*block);
#endif
  return number;
}

static void give_back(uint64_t number) {
  Block* block = &pool->block[number - 1];
  const uint64_t old = pool->head;
  block->word = old; /* (lost 1, 3) */
#if BUG == 1
  pm_flush(block, sizeof *block);
#elif BUG != 3
  PERSIST(*block);
#endif
  pool->head = number; /* (relies 1, 3) */
#if BUG == 3
  block->word = old; /* (lost 3) */
  PERSIST(*block);
#endif
  PERSIST(pool->head);
}

static void create(void) {
  for (uint64_t i = 0; i < BLOCKS; ++i) pool->block[i].word = i + 1 < BLOCKS ? i + 2 : 0;
  pm_persist(pool->block, sizeof pool->block);
  pool->head = 1;
  PERSIST(pool->head);
  pool->magic = MAGIC;
  PERSIST(pool->magic);
}

static void setup(void) {
  pool = pm_map(path, sizeof *pool);
  create();
}

static void operations(void) {
  const uint64_t first = take();
  const uint64_t second = take();
  give_back(first);
  give_back(second);
}

static void recover(void) {
  pool = pm_map(path, sizeof *pool);
  if (pool->magic != MAGIC) create();
}

static void verify(void) {
  unsigned steps = 0;
  for (uint64_t number = pool->head; number; number = pool->block[number - 1].word) {
    pm_expect(number <= BLOCKS, "the list of free blocks leads to blocks only");
    pm_expect(++steps <= BLOCKS, "the list of free blocks ends");
  }
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: freelist POOL");
  path = argv[1];
  return pm_test(setup, operations, recover, verify);
}
