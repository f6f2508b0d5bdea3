/* A binary search tree that is never changed in place: an insert copies the path to its place, and one store makes the
 * root lead to the copy.
 *
 *   cow_tree POOL [OPERATIONS]
 *
 * Nodes come from a bump allocator and are not used again. A restart has nothing to do.
 *
 * BUG=1..4 each bring in one mistake. */
#include "pm.h"

#define MAGIC 0x656572747763u
enum { NODES = 64, DEFAULT_OPERATIONS = 6 };

struct node {
  __attribute__((aligned(64))) uint64_t key;
  uint64_t value;
  struct node* left;
  struct node* right;
};

struct pool {
  uint64_t magic;                                 /* written last */
  __attribute__((aligned(64))) struct node* root; /* what counts */
  __attribute__((aligned(64))) uint64_t used;     /* nodes; what is not reached from the root is lost after a crash */
  struct node node[NODES];
};

static struct pool* pool;

static struct node* fresh(uint64_t key, uint64_t value, struct node* left, struct node* right) {
  if (pool->used == NODES) pm_die("the tree is full");
  struct node* node = &pool->node[pool->used];
  PM_PUBLISH(pool->used, pool->used + 1);
  pm_persist(&pool->used, sizeof pool->used);
  node->key = key;     /* @LOST 1, @LOST 2 */
  node->value = value; /* @LOST 1, @LOST 2 */
  node->left = left;   /* @LOST 1, @LOST 2 */
  node->right = right; /* @LOST 1, @LOST 2 */
#if BUG == 1
  /* MECH, the nodes of the new path are not durable when the root leads to them. */
  pm_flush(node, sizeof *node);
#elif BUG != 2
  pm_persist(node, sizeof *node);
#endif
  return node;
}

/* The path to the key, copied, with the value at its end. */
static struct node* with(struct node* tree, uint64_t key, uint64_t value) {
  if (tree == NULL) return fresh(key, value, NULL, NULL);
  if (key == tree->key) return fresh(key, value, tree->left, tree->right);
  if (key < tree->key) return fresh(tree->key, tree->value, with(tree->left, key, value), tree->right);
  return fresh(tree->key, tree->value, tree->left, with(tree->right, key, value));
}

static void set_root(struct node* root) {
  PM_PUBLISH(pool->root, root); /* @LOST 3 */
  pm_persist(&pool->root, sizeof pool->root);
}

static void insert(uint64_t key, uint64_t value) {
#if BUG == 4
  /* MECH, a value is changed in place where the key is known: a crash may leave it half a pair of operations early. */
  for (struct node* node = pool->root; node != NULL; node = key < node->key ? node->left : node->right)
    if (node->key == key) {
      node->value = value << 1 | 1; /* @LOST 4 */
      pm_persist(&node->value, sizeof node->value);
      node->value = value; /* @LOST 4 */
      pm_persist(&node->value, sizeof node->value);
      return;
    }
#endif
  struct node* root = with(pool->root, key, value);
  set_root(root);
#if BUG == 2
  /* MECH, what the root leads to is made durable after it. */
  for (uint64_t i = 0; i < pool->used; ++i) pm_flush(&pool->node[i], sizeof pool->node[i]);
  pm_fence();
#elif BUG == 3
  /* MECH, published before it is complete: the value follows. */
  root->value += 1000; /* @LOST 3 */
  pm_persist(&root->value, sizeof root->value);
  root->value -= 1000; /* @LOST 3 */
  pm_persist(&root->value, sizeof root->value);
#endif
}

/* The workload: every key twice. */
static uint64_t key_of(uint64_t n) { return (n / 2) * 5 % 7 + 1; }

static uint64_t count_wrong(const struct node* tree, uint64_t low, uint64_t high, uint64_t done, uint64_t* seen) {
  if (tree == NULL) return 0;
  pm_expect(tree >= pool->node && tree < &pool->node[NODES], "a pointer leads to a node");
  uint64_t wrong = tree->key <= low || tree->key >= high;
  uint64_t expected = 0;
  for (uint64_t n = 0; n < done; ++n)
    if (key_of(n) == tree->key) expected = n + 1;
  wrong += tree->value != expected;
  ++*seen;
  return wrong + count_wrong(tree->left, low, tree->key, done, seen) +
         count_wrong(tree->right, tree->key, high, done, seen);
}

static uint64_t newest(const struct node* tree) {
  if (tree == NULL) return 0;
  pm_expect(tree >= pool->node && tree < &pool->node[NODES], "a pointer leads to a node");
  uint64_t left = newest(tree->left), right = newest(tree->right), most = tree->value;
  if (left > most) most = left;
  return right > most ? right : most;
}

static void verify(uint64_t operations) {
  uint64_t done = newest(pool->root), seen = 0, keys = 0;
  pm_expect(done <= operations, "no more was done than there was to do");
  pm_expect(count_wrong(pool->root, 0, 100, done, &seen) == 0, "the tree is that after a whole number of operations");
  for (uint64_t n = 0; n < done; n += 2) ++keys;
  pm_expect(seen == keys, "all keys are there");
  pm_expect(pm_done(done, operations), "every insert that had ended is there, and none that had not begun");
}

static void restart(void) {
  if (pool->magic == MAGIC) return; /* new bytes are 0: the tree is empty */
  PM_PUBLISH(pool->magic, MAGIC);
  pm_persist(&pool->magic, sizeof pool->magic);
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: cow_tree POOL [OPERATIONS]");
  uint64_t operations = argc > 2 ? strtoul(argv[2], NULL, 10) : DEFAULT_OPERATIONS;
  pool = pm_map(argv[1], sizeof *pool);
  if (!blackout_recovering()) {
    restart();
    for (uint64_t n = 0; n < operations; ++n) {
      blackout_op_begin("insert", n);
      insert(key_of(n), n + 1);
      blackout_op_end(0);
    }
    if (blackout_active()) return 0;
  }
  restart();
  verify(operations);
  return 0;
}
