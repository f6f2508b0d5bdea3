/* A leaf of a B-tree with sorted keys, in C. The keys are one line and the values another. An insert makes a new leaf
 * with the keys shifted, makes it durable and replaces the old one by one store of its address. A restart exits with 3,
 * 4 or 5 if the leaf is wrong. */
#include "pm.h"

#define MAGIC 0x6661656cu
#define POOL_SIZE 8192u
#define ROOM 7u

typedef struct {
  _Alignas(PM_LINE) volatile uint64_t count;
  volatile uint64_t key[ROOM];
  _Alignas(PM_LINE) volatile uint64_t value[ROOM];
} Leaf;

typedef struct {
  volatile uint64_t magic; /* written last */
  _Alignas(PM_LINE) Leaf* volatile leaf;
  _Alignas(PM_LINE) char* top;
} Tree;

static Tree* tree;

static Leaf* new_leaf(void) { return pm_bump(&tree->top, (char*)tree + POOL_SIZE, sizeof(Leaf)); }

static void insert(uint64_t key) {
  const Leaf* from = tree->leaf;
#if BUG == 1
  Leaf* to = tree->leaf;
#else
  Leaf* to = new_leaf();
#endif
  const uint64_t count = from->count;
  uint64_t i = count;
  for (; i > 0 && from->key[i - 1] > key; --i) {
    to->key[i] = from->key[i - 1];     /* (update 1) (lost 2) */
    to->value[i] = from->value[i - 1]; /* (update 1) (lost 2) */
  }
  to->key[i] = key;        /* (update 1) (lost 2) */
  to->value[i] = 10 * key; /* (update 1) (lost 2) */
  while (i-- > 0) {
    to->key[i] = from->key[i];     /* (lost 2) */
    to->value[i] = from->value[i]; /* (lost 2) */
  }
  to->count = count + 1; /* (update 1) (lost 2) */
#if BUG == 2
  tree->leaf = to; /* (relies 2) */
  pm_persist(to, sizeof *to);
#else
  pm_persist(to, sizeof *to);
  tree->leaf = to;
#endif
  pm_persist((void*)&tree->leaf, sizeof tree->leaf);
}

static int check(void) {
  const Leaf* leaf = tree->leaf;
  if (leaf->count == 0) return 3;
  for (uint64_t i = 0; i < leaf->count; ++i) {
    if (i > 0 && leaf->key[i - 1] >= leaf->key[i]) return 4;
    if (leaf->value[i] != 10 * leaf->key[i]) return 5;
  }
  return 0;
}

static void create(void) {
  tree->top = (char*)(tree + 1);
  pm_persist(&tree->top, sizeof tree->top);
  Leaf* leaf = new_leaf();
  leaf->key[0] = 50;
  leaf->value[0] = 500;
  leaf->count = 1;
  pm_persist(leaf, sizeof *leaf);
  tree->leaf = leaf;
  pm_persist((void*)&tree->leaf, sizeof tree->leaf);
  tree->magic = MAGIC;
  pm_persist((void*)&tree->magic, sizeof tree->magic);
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: leaf POOL");
  tree = pm_map(argv[1], POOL_SIZE);
  if (tree->magic == MAGIC) return check();
  create();
  insert(30);
  insert(40);
  insert(60);
  return 0;
}
