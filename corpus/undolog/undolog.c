/* Transactions with an undo log, in plain C: a bank whose transfers change two accounts and a total at once.
 *
 * Before a range is changed in place, its old contents are an entry of the log, durable, and then one more entry is
 * valid, durable. A commit makes the new contents durable and then the log empty by one store. A restart that finds
 * valid entries puts the old contents back, newest first; until that is durable the log stays as it is, so a crash
 * in the restart is nothing new. */
#include <string.h>

#include "pm.h"

#define MAGIC 0x676f6c6f646e75u
enum { ACCOUNTS = 8, FIRST_BALANCE = 1000, ENTRIES = 4, DEFAULT_TRANSFERS = 6 };

struct entry {
  void* place;
  uint64_t size;
  uint8_t old[48];
};

struct account {
  uint64_t balance;
  uint64_t transfers; /* that it took part in */
  uint8_t padding[48];
};

struct bank {
  uint64_t magic;
  _Alignas(PM_LINE) uint64_t valid; /* entries that a restart puts back */
  _Alignas(PM_LINE) uint64_t transfers;
  _Alignas(PM_LINE) struct entry entries[ENTRIES];
  struct account accounts[ACCOUNTS];
};

/* From here on [place, place + size) may be changed in place, up to the commit. */
static void log_range(struct bank* bank, void* place, uint64_t size) {
  struct entry* entry = &bank->entries[bank->valid];
#if BUG == 2
  /* SEM, valid before the entry's data: a restart puts back what an earlier transaction left in the entry. */
  PM_PUBLISH(bank->valid, bank->valid + 1); /* @LOST 2 */
  pm_persist(&bank->valid, sizeof bank->valid);
#endif
  entry->place = place; /* @LOST 2 */
  entry->size = size;
  memcpy(entry->old, place, size); /* @LOST 2 */
  pm_persist(entry, sizeof *entry);
#if BUG == 1
  /* RACE, the entry is not sure to be valid when the range is changed in place: it is flushed, but not fenced. */
  PM_PUBLISH(bank->valid, bank->valid + 1); /* @LOST 1 */
  pm_flush(&bank->valid, sizeof bank->valid);
#elif BUG != 2
  PM_PUBLISH(bank->valid, bank->valid + 1);
  pm_persist(&bank->valid, sizeof bank->valid);
#endif
}

static void empty_log(struct bank* bank) {
  PM_PUBLISH(bank->valid, 0); /* @LOST 4, @LOST 5 */
  pm_persist(&bank->valid, sizeof bank->valid);
}

static void commit(struct bank* bank) {
  uint64_t entries = bank->valid;
#if BUG == 3
  /* SEM, the log is emptied before what the transaction changed is durable: nobody can put it back any more. */
  empty_log(bank);
#endif
#if BUG == 7
  /* RACE, one range is forgotten when the changes are flushed: it is lost, the others are not. */
  --entries;
#endif
  for (uint64_t i = 0; i < entries; ++i) pm_flush(bank->entries[i].place, bank->entries[i].size);
  pm_fence();
#if BUG != 3
  empty_log(bank);
#endif
}

static void roll_back(struct bank* bank) {
  uint64_t entries = bank->valid;
#if BUG == 6
  /* SEM, the log is emptied before what was put back is durable: a crash in the restart leaves half of it. */
  empty_log(bank);
#endif
  for (uint64_t i = entries; i-- > 0;) {
    struct entry* entry = &bank->entries[i];
#if BUG == 5
    /* SEM, a restart that can't be repeated: the contents change places, to keep what was rolled back for an
     * inspection. After a crash in the restart the next one brings the unfinished transaction back. */
    uint8_t aborted[sizeof entry->old];
    memcpy(aborted, entry->place, entry->size);
    memcpy(entry->place, entry->old, entry->size); /* @LOST 5 */
    memcpy(entry->old, aborted, entry->size);      /* @LOST 5 */
    pm_flush(entry, sizeof *entry);
#else
    memcpy(entry->place, entry->old, entry->size); /* @LOST 6 */
#endif
    pm_flush(entry->place, entry->size);
  }
  pm_fence();
#if BUG != 6
  empty_log(bank);
#endif
}

static void transfer(struct bank* bank, struct account* from, struct account* to, uint64_t amount) {
  const uint64_t changed = offsetof(struct account, padding);
  log_range(bank, from, changed);
  log_range(bank, to, changed);
#if BUG != 4
  log_range(bank, &bank->transfers, sizeof bank->transfers);
#endif
  from->balance -= amount; /* @LOST 3 */
  ++from->transfers;       /* @LOST 3 */
  to->balance += amount;   /* @LOST 3 */
  ++to->transfers;         /* @LOST 3 */
  ++bank->transfers;       /* @LOST 3, @LOST 4, @LOST 7 */
#if BUG == 4
  /* RACE, a range that is not in the log: it is flushed with the others, but after a crash it is not put back. */
  pm_flush(&bank->transfers, sizeof bank->transfers);
#endif
  commit(bank);
}

static void create(struct bank* bank) {
  if (bank->magic != 0) {
    PM_PUBLISH(bank->magic, 0);
    pm_persist(&bank->magic, sizeof bank->magic);
  }
  bank->valid = 0;
  bank->transfers = 0;
  for (unsigned i = 0; i < ACCOUNTS; ++i) {
    bank->accounts[i].balance = FIRST_BALANCE;
    bank->accounts[i].transfers = 0;
  }
  pm_flush(&bank->valid, sizeof bank->valid);
  pm_flush(&bank->transfers, sizeof bank->transfers);
  pm_persist(bank->accounts, sizeof bank->accounts);
  PM_PUBLISH(bank->magic, MAGIC);
  pm_persist(&bank->magic, sizeof bank->magic);
}

/* The workload: transfer number n. */
static void nth(uint64_t n, unsigned* from, unsigned* to, uint64_t* amount) {
  *from = (unsigned)(n * 3 % ACCOUNTS);
  *to = (unsigned)((*from + 1 + n % (ACCOUNTS - 1)) % ACCOUNTS);
  *amount = 1 + n % 7;
}

static void verify(const struct bank* bank, uint64_t transfers) {
  uint64_t balances = 0, parts = 0;
  for (unsigned i = 0; i < ACCOUNTS; ++i) {
    balances += bank->accounts[i].balance;
    parts += bank->accounts[i].transfers;
  }
  pm_expect(balances == ACCOUNTS * FIRST_BALANCE, "no money is lost or made");
  pm_expect(parts == 2 * bank->transfers, "each transfer is counted with both its accounts");
  pm_expect(bank->transfers <= transfers, "there are no more transfers than were made");

  uint64_t expected[ACCOUNTS];
  for (unsigned i = 0; i < ACCOUNTS; ++i) expected[i] = FIRST_BALANCE;
  for (uint64_t n = 0; n < bank->transfers; ++n) {
    unsigned from, to;
    uint64_t amount;
    nth(n, &from, &to, &amount);
    expected[from] -= amount;
    expected[to] += amount;
  }
  for (unsigned i = 0; i < ACCOUNTS; ++i)
    pm_expect(bank->accounts[i].balance == expected[i], "each balance is that after the counted transfers");
  pm_expect(pm_done(bank->transfers, transfers), "every transfer that had ended is there, and none that had not begun");
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: undolog POOL [TRANSFERS]");
  uint64_t transfers = argc > 2 ? strtoul(argv[2], NULL, 10) : DEFAULT_TRANSFERS;
  struct bank* bank = pm_map(argv[1], sizeof *bank);
  if (!blackout_recovering()) {
    create(bank);
    for (uint64_t n = 0; n < transfers; ++n) {
      unsigned from, to;
      uint64_t amount;
      nth(n, &from, &to, &amount);
      blackout_op_begin("transfer", n);
      transfer(bank, &bank->accounts[from], &bank->accounts[to], amount);
      blackout_op_end(0);
    }
    if (blackout_active()) return 0;
  }
  if (bank->magic != MAGIC)
    create(bank);
  else if (bank->valid > 0)
    roll_back(bank);
  verify(bank, transfers);
  return 0;
}
