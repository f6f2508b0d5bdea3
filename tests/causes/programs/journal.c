/* Accounts with an undo journal, in C. Before a balance is changed, its address and old value are an entry of the
 * journal, durable; then `valid` counts it, durable. A commit makes the balances durable and then empties the journal.
 * A restart that finds entries puts the old balances back, the newest entry first, and asserts that no money was made
 * or lost. The fee is taken from the same account as the transfer, so one transaction has two entries for it. */
#include <assert.h>

#include "pm.h"

#define MAGIC 0x6c6e726au
#define ACCOUNTS 4u /* the first is the bank's own */
#define TOTAL 3000u
#define ENTRIES 4u

typedef struct {
  _Alignas(PM_LINE) volatile uint64_t money;
} Balance;

typedef struct {
  _Alignas(PM_LINE) volatile uint64_t* volatile place;
  volatile uint64_t old;
} Entry;

typedef struct {
  volatile uint64_t magic; /* written last */
  _Alignas(PM_LINE) volatile uint64_t valid;
  Entry entry[ENTRIES];
  Balance balance[ACCOUNTS];
} Bank;

static const char* path;
static Bank* bank;

#define NOINLINE __attribute__((noinline))

NOINLINE static void remember(volatile uint64_t* place) {
  const uint64_t valid = bank->valid;
  Entry* entry = &bank->entry[valid];
  entry->old = *place;  /* (lost 2) */
  entry->place = place; /* (lost 2) */
#if BUG == 2
  pm_flush(entry, sizeof *entry);
#else
  pm_persist(entry, sizeof *entry);
#endif
  bank->valid = valid + 1; /* (relies 2) */
  pm_persist((void*)&bank->valid, sizeof bank->valid);
}

NOINLINE static void set_word(volatile uint64_t* place, uint64_t value) { *place = value; /* (lost 3) */ }

NOINLINE static void set_money(Balance* balance, uint64_t money) {
  set_word(&balance->money, money);
  __asm__ volatile(""); /* no tail call: every frame stays on the stack */
}

NOINLINE static void change(Balance* balance, int64_t by) {
  remember(&balance->money);
  set_money(balance, balance->money + (uint64_t)by);
  __asm__ volatile("");
}

NOINLINE static void change_account(unsigned account, int64_t by) {
  change(&bank->balance[account], by);
  __asm__ volatile("");
}

NOINLINE static void withdraw(unsigned account, uint64_t money) {
  change_account(account, -(int64_t)money);
  __asm__ volatile("");
}

NOINLINE static void deposit(unsigned account, uint64_t money) {
  change_account(account, (int64_t)money);
  __asm__ volatile("");
}

NOINLINE static void commit(unsigned from, unsigned to) {
  (void)from, (void)to;
#if BUG != 3
  pm_flush(&bank->balance[from], sizeof(Balance));
  pm_flush(&bank->balance[to], sizeof(Balance));
  pm_flush(&bank->balance[0], sizeof(Balance));
#endif
  pm_fence();
  bank->valid = 0; /* (relies 3) */
  pm_persist((void*)&bank->valid, sizeof bank->valid);
}

NOINLINE static void transfer(unsigned from, unsigned to, uint64_t money) {
  withdraw(from, money); /* (caller 3) */
  deposit(to, money);    /* (caller 3) */
  withdraw(from, 1);     /* (caller 3) */
  deposit(0, 1);         /* (caller 3) */
  commit(from, to);
  __asm__ volatile("");
}

static void create(void) {
  for (unsigned i = 1; i < ACCOUNTS; ++i) bank->balance[i].money = TOTAL / (ACCOUNTS - 1);
  pm_persist(&bank->balance[1], (ACCOUNTS - 1) * sizeof(Balance));
  bank->magic = MAGIC;
  pm_persist((void*)&bank->magic, sizeof bank->magic);
}

static void setup(void) {
  bank = pm_map(path, sizeof *bank);
  create();
}

static void operations(void) {
  transfer(1, 2, 100);
  transfer(3, 1, 50);
}

static void undo(const Entry* entry) {
  *entry->place = entry->old; /* (replay 1) */
  pm_flush((void*)entry->place, sizeof *entry->place);
}

static void recover(void) {
  bank = pm_map(path, sizeof *bank);
  if (bank->magic != MAGIC) create();
  const uint64_t valid = bank->valid;
  if (valid == 0) return;
#if BUG == 1
  for (uint64_t i = 0; i < valid; ++i) undo(&bank->entry[i]); /* (replay 1) */
#else
  for (uint64_t i = valid; i-- > 0;) undo(&bank->entry[i]);
#endif
  pm_fence();
  bank->valid = 0;
  pm_persist((void*)&bank->valid, sizeof bank->valid);
}

static void verify(void) {
  uint64_t total = 0;
  for (unsigned i = 0; i < ACCOUNTS; ++i) total += bank->balance[i].money;
  assert(total == TOTAL);
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: journal POOL");
  path = argv[1];
  return pm_test(setup, operations, recover, verify);
}
