/* Undo logging with a valid flag, the smallest form of it: one backup, one flag.
 *
 *   mechanisms_undo POOL [OPERATIONS]
 *
 * An item is changed in place after its old contents are in the backup, durable, and the flag says so, durable. The
 * flag is cleared when the new contents are durable. A restart that finds the flag set puts the backup back.
 *
 * BUG=1..3 each bring in one mistake. */
#include "pm.h"

#define MAGIC 0x6f646e75u
enum { ITEMS = 3, DEFAULT_OPERATIONS = 6 };

struct item {
  uint64_t value, twice, thrice;
};

struct pool {
  uint64_t magic;                              /* written last */
  __attribute__((aligned(64))) uint64_t valid; /* the backup is to be put back */
  __attribute__((aligned(64))) struct {
    uint64_t index;
    struct item old;
  } backup;
  struct {
    __attribute__((aligned(64))) struct item item;
  } at[ITEMS];
};

static struct pool* pool;

/* The workload: operation n changes this item, every item twice in a row. */
static uint64_t index_of(uint64_t n) { return n / 2 % ITEMS; }

static void set(struct item* item, uint64_t value) {
  item->value = value;      /* @LOST 1, @LOST 2, @LOST 3 */
  item->twice = 2 * value;  /* @LOST 1, @LOST 2, @LOST 3 */
  item->thrice = 3 * value; /* @LOST 1, @LOST 2, @LOST 3 */
}

static void set_valid(uint64_t valid) {
  PM_PUBLISH(pool->valid, valid); /* @LOST 1, @LOST 2 */
  pm_persist(&pool->valid, sizeof pool->valid);
}

static void change(uint64_t index, uint64_t value) {
  struct item* item = &pool->at[index].item;
#if BUG == 2
  /* SEM, a stale backup: it is kept if it is of the same item, with contents of two changes ago. */
  if (pool->backup.index != index || value <= 2)
#endif
  {
    pool->backup.index = index; /* @LOST 1 */
    pool->backup.old = *item;
    pm_persist(&pool->backup, sizeof pool->backup);
  }
#if BUG == 1
  /* SEM, the flag the wrong way round: cleared before the change and set after it. A restart puts back what had
   * ended, and leaves what had not. */
  if (pool->valid) set_valid(0);
#else
  set_valid(1);
#endif
  set(item, value);
#if BUG == 3
  /* SEM, the flag is cleared before the change is durable: nobody can put it back any more. */
  set_valid(0);
  pm_persist(item, sizeof *item);
#else
  pm_persist(item, sizeof *item);
  set_valid(BUG == 1);
#endif
}

/* A program that ends leaves nothing to put back. */
static void end(void) {
  if (pool->valid) set_valid(0);
}

static void restart(void) {
  if (pool->magic != MAGIC) { /* new bytes are 0: every item is, and nothing is to be put back */
    PM_PUBLISH(pool->magic, MAGIC);
    pm_persist(&pool->magic, sizeof pool->magic);
  } else if (pool->valid) {
    struct item* item = &pool->at[pool->backup.index].item;
    *item = pool->backup.old;
    pm_persist(item, sizeof *item);
    set_valid(0);
  }
}

static void verify(uint64_t operations) {
  uint64_t done = 0;
  for (unsigned i = 0; i < ITEMS; ++i) {
    const struct item* item = &pool->at[i].item;
    pm_expect(item->twice == 2 * item->value && item->thrice == 3 * item->value, "every item is whole");
    if (item->value > done) done = item->value;
  }
  pm_expect(done <= operations, "no more was done than there was to do");
  uint64_t expected[ITEMS] = {0};
  for (uint64_t n = 0; n < done; ++n) expected[index_of(n)] = n + 1;
  for (unsigned i = 0; i < ITEMS; ++i)
    pm_expect(pool->at[i].item.value == expected[i], "the items are those after a whole number of operations");
  pm_expect(pm_done(done, operations), "every operation that had ended is there, and none that had not begun");
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: mechanisms_undo POOL [OPERATIONS]");
  uint64_t operations = argc > 2 ? strtoul(argv[2], NULL, 10) : DEFAULT_OPERATIONS;
  pool = pm_map(argv[1], sizeof *pool);
  if (!blackout_recovering()) {
    restart();
    for (uint64_t n = 0; n < operations; ++n) {
      blackout_op_begin("change", n);
      change(index_of(n), n + 1);
      blackout_op_end(0);
    }
    end();
    if (blackout_active()) return 0;
  }
  restart();
  verify(operations);
  return 0;
}
