/* Redo logging with a commit flag: one transaction at a time, of three stores.
 *
 *   mechanisms_redo POOL [OPERATIONS]
 *
 * A transfer writes what it will store to the log, durable, then the flag, durable, and only then stores it in place;
 * the flag is cleared when that is durable. A restart that finds the flag stores it again, one that doesn't ignores
 * the log.
 *
 * BUG=1..3 each bring in one mistake. */
#include "pm.h"

#define MAGIC 0x6f646572u
enum { ACCOUNTS = 4, ENTRIES = 3, FIRST_BALANCE = 100, DEFAULT_OPERATIONS = 5 };

struct account {
  __attribute__((aligned(64))) uint64_t balance;
};

struct pool {
  uint64_t magic;                                  /* written last */
  __attribute__((aligned(64))) uint64_t committed; /* the log is to be stored in place */
  struct {
    __attribute__((aligned(64))) uint64_t* place;
    uint64_t value;
  } entry[ENTRIES];
  __attribute__((aligned(64))) uint64_t transfers;
  struct account account[ACCOUNTS];
};

static struct pool* pool;

static void set_committed(uint64_t committed) {
  PM_PUBLISH(pool->committed, committed); /* @LOST 1, @LOST 3 */
  pm_persist(&pool->committed, sizeof pool->committed);
}

static void log_store(unsigned i, uint64_t* place, uint64_t value) {
  pool->entry[i].place = place; /* @LOST 1 */
  pool->entry[i].value = value; /* @LOST 1 */
}

static void apply(void) {
  for (unsigned i = 0; i < ENTRIES; ++i) PM_PUBLISH(*pool->entry[i].place, pool->entry[i].value); /* @LOST 2, @LOST 3 */
#if BUG == 2
  /* SEM, the flag is cleared before what was stored in place is durable: it is lost, and so is the log. */
  set_committed(0);
#endif
  for (unsigned i = 0; i < ENTRIES; ++i) pm_flush(pool->entry[i].place, sizeof(uint64_t));
  pm_fence();
}

static void transfer(uint64_t from, uint64_t to, uint64_t amount) {
#if BUG == 1
  /* SEM, committed before the entries: a restart stores what an earlier transaction left in the log. */
  set_committed(1);
#endif
  log_store(0, &pool->account[from].balance, pool->account[from].balance - amount);
  log_store(1, &pool->account[to].balance, pool->account[to].balance + amount);
  log_store(2, &pool->transfers, pool->transfers + 1);
  pm_persist(pool->entry, sizeof pool->entry);
#if BUG != 1
  set_committed(1);
#endif
  apply();
#if BUG != 2
  set_committed(0);
#endif
}

static void restart(void) {
  if (pool->magic != MAGIC) {
    for (unsigned i = 0; i < ACCOUNTS; ++i) pool->account[i].balance = FIRST_BALANCE;
    pm_persist(pool->account, sizeof pool->account);
    PM_PUBLISH(pool->magic, MAGIC);
    pm_persist(&pool->magic, sizeof pool->magic);
  } else if (pool->committed) {
#if BUG == 3
    /* SEM, the restart clears the flag before it stores: a crash in the restart leaves what it had come to. */
    set_committed(0);
    apply();
#else
    apply();
#if BUG != 2
    set_committed(0);
#endif
#endif
  }
}

/* The workload: transfer number n. */
static void nth(uint64_t n, uint64_t* from, uint64_t* to, uint64_t* amount) {
  *from = n % ACCOUNTS;
  *to = (n + 1 + n % 3) % ACCOUNTS;
  *amount = n + 1;
}

static void verify(uint64_t operations) {
  uint64_t balances = 0, expected[ACCOUNTS], from, to, amount;
  for (unsigned i = 0; i < ACCOUNTS; ++i) {
    balances += pool->account[i].balance;
    expected[i] = FIRST_BALANCE;
  }
  pm_expect(balances == ACCOUNTS * FIRST_BALANCE, "no money is lost or made");
  pm_expect(pool->transfers <= operations, "there are no more transfers than were made");
  for (uint64_t n = 0; n < pool->transfers; ++n) {
    nth(n, &from, &to, &amount);
    expected[from] -= amount;
    expected[to] += amount;
  }
  for (unsigned i = 0; i < ACCOUNTS; ++i)
    pm_expect(pool->account[i].balance == expected[i], "each balance is that after the counted transfers");
  pm_expect(pm_done(pool->transfers, operations),
            "every transfer that had ended is there, and none that had not begun");
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: mechanisms_redo POOL [OPERATIONS]");
  uint64_t operations = argc > 2 ? strtoul(argv[2], NULL, 10) : DEFAULT_OPERATIONS;
  uint64_t from, to, amount;
  pool = pm_map(argv[1], sizeof *pool);
  if (!blackout_recovering()) {
    restart();
    for (uint64_t n = 0; n < operations; ++n) {
      nth(n, &from, &to, &amount);
      blackout_op_begin("transfer", n);
      transfer(from, to, amount);
      blackout_op_end(0);
    }
    if (blackout_active()) return 0;
  }
  restart();
  verify(operations);
  return 0;
}
