/* Operational logging: the log has what is to be done, not what is to be stored.
 *
 *   mechanisms_oplog POOL [OPERATIONS]
 *
 * An operation fills a row of two lines. It is an entry of the log, durable, then it is counted as logged, durable,
 * then it is executed, and when that is durable it is counted as done. A restart that finds an operation which is
 * logged and not done executes it again: its result depends on the entry only.
 *
 * BUG=1..3 each bring in one mistake. */
#include "pm.h"

#define MAGIC 0x676f6c706fu
enum { ROWS = 3, WORDS = 12, ENTRIES = 2, DEFAULT_OPERATIONS = 6 };

struct pool {
  uint64_t magic;                               /* written last */
  __attribute__((aligned(64))) uint64_t logged; /* operations whose entries are whole */
  __attribute__((aligned(64))) uint64_t done;   /* operations that need not be executed again */
  struct {
    __attribute__((aligned(64))) uint64_t row;
    uint64_t value;
  } entry[ENTRIES];
  struct {
    __attribute__((aligned(64))) uint64_t word[WORDS];
  } row[ROWS];
};

static struct pool* pool;

static void set_done(uint64_t done) {
  PM_PUBLISH(pool->done, done); /* @LOST 1, @LOST 3 */
  pm_persist(&pool->done, sizeof pool->done);
}

static void set_logged(uint64_t logged) {
  PM_PUBLISH(pool->logged, logged); /* @LOST 2 */
  pm_persist(&pool->logged, sizeof pool->logged);
}

/* The workload: operation n. */
static uint64_t row_of(uint64_t n) { return n % ROWS; }
static uint64_t value_of(uint64_t n) { return n + 1; }

static void execute(uint64_t n) {
  uint64_t row = pool->entry[n % ENTRIES].row;
  uint64_t value = pool->entry[n % ENTRIES].value;
#if BUG == 1
  /* SEM, done before it is durable: a restart finds half a row, and nothing to execute. */
  set_done(n + 1);
#endif
#if BUG == 3
  /* SEM, an operation that can't be executed twice: it adds to what is there. After a crash it is added again. */
  uint64_t before = n < ROWS ? 0 : value_of(n - ROWS) << 8;
  for (unsigned i = 0; i < WORDS; ++i)
    pool->row[row].word[i] += (value << 8) - before + (n < ROWS ? i : 0); /* @LOST 3 */
#else
  for (unsigned i = 0; i < WORDS; ++i) pool->row[row].word[i] = value << 8 | i; /* @LOST 1 */
#endif
  pm_persist(&pool->row[row], sizeof pool->row[row]);
#if BUG != 1
  set_done(n + 1);
#endif
}

static void fill(uint64_t n) {
#if BUG == 2
  /* SEM, logged before the entry is: a restart executes what an earlier operation left there. */
  set_logged(n + 1);
#endif
  pool->entry[n % ENTRIES].row = row_of(n);     /* @LOST 2 */
  pool->entry[n % ENTRIES].value = value_of(n); /* @LOST 2 */
  pm_persist(&pool->entry[n % ENTRIES], sizeof pool->entry[0]);
#if BUG != 2
  set_logged(n + 1);
#endif
  execute(n);
}

static void restart(void) {
  if (pool->magic != MAGIC) { /* new bytes are 0 */
    PM_PUBLISH(pool->magic, MAGIC);
    pm_persist(&pool->magic, sizeof pool->magic);
  } else if (pool->logged > pool->done) {
    execute(pool->done);
  }
}

static void verify(uint64_t operations) {
  uint64_t done = 0;
  for (unsigned r = 0; r < ROWS; ++r) {
    uint64_t value = pool->row[r].word[0] >> 8;
    for (unsigned i = 0; i < WORDS && value > 0; ++i)
      pm_expect(pool->row[r].word[i] == (value << 8 | i), "every row is whole");
    if (value > done) done = value;
  }
  pm_expect(done <= operations, "no more was done than there was to do");
  uint64_t expected[ROWS] = {0};
  for (uint64_t n = 0; n < done; ++n) expected[row_of(n)] = value_of(n);
  for (unsigned r = 0; r < ROWS; ++r)
    pm_expect(pool->row[r].word[0] >> 8 == expected[r], "the rows are those after a whole number of operations");
  pm_expect(pool->done == done && pool->logged == done, "what is done is counted");
  pm_expect(pm_done(done, operations), "every operation that had ended is there, and none that had not begun");
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: mechanisms_oplog POOL [OPERATIONS]");
  uint64_t operations = argc > 2 ? strtoul(argv[2], NULL, 10) : DEFAULT_OPERATIONS;
  pool = pm_map(argv[1], sizeof *pool);
  if (!blackout_recovering()) {
    restart();
    blackout_commit_var(&pool->logged, sizeof pool->logged);
    blackout_commit_range(&pool->logged, pool->entry, sizeof pool->entry);
    for (uint64_t n = 0; n < operations; ++n) {
      blackout_op_begin("fill", n);
      fill(n);
      blackout_op_end(0);
    }
    if (blackout_active()) return 0;
  }
  restart();
  verify(operations);
  return 0;
}
