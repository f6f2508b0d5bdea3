/* An undo journal in a ring, as PMFS has it: space is allocated by the tail, entries are written between head and tail,
 * and when what they are about is durable in place the head follows.
 *
 *   journal POOL [OPERATIONS]
 *
 * An operation changes two slots of a table, which must agree. A restart that finds entries between head and tail puts
 * their old contents back, newest first. A generation, which grows with every one, tells entries from what an earlier
 * round of the ring left there.
 *
 * BUG=1..5 each bring in one mistake. */
#include <string.h>

#include "pm.h"

#define MAGIC 0x6c6e72756f6au
enum { SLOTS = 3, ENTRIES = 5, DEFAULT_OPERATIONS = 5 };

struct log_entry {
  uint64_t addr; /* offset in the pool */
  uint32_t size;
  uint32_t generation; /* stored last: the entry is whole */
  uint8_t data[48];
};

struct journal {
  uint64_t base; /* offset in the pool */
  uint64_t size;
  uint64_t head; /* offsets from the base */
  uint64_t tail;
  uint64_t generation;
};

struct slot {
  __attribute__((aligned(64))) uint64_t value;
};

struct pool {
  uint64_t magic; /* written last */
  __attribute__((aligned(64))) struct journal journal;
  __attribute__((aligned(64))) struct log_entry ring[ENTRIES + 1];
  struct slot left[SLOTS];
  struct slot right[SLOTS];
};

static struct pool* pool;

static struct log_entry* entry_at(uint64_t offset) {
  return (struct log_entry*)((char*)pool + pool->journal.base + offset % pool->journal.size);
}

static uint64_t allocate(uint64_t entries) {
  struct journal* journal = &pool->journal;
  uint64_t at = journal->tail;
  PM_PUBLISH(journal->tail, (at + entries * sizeof(struct log_entry)) % journal->size); /* @LOST 1 */
#if BUG != 1
  /* BUG == 1: MECH, the tail is not flushed before the entries are written. */
  pm_persist(journal, sizeof *journal);
#endif
  return at;
}

static void log_range(uint64_t at, const void* place, uint32_t size) {
  struct log_entry* entry = entry_at(at);
  entry->addr = (uint64_t)((const char*)place - (const char*)pool); /* @LOST 2 */
  entry->size = size;
  memcpy(entry->data, place, size); /* @LOST 2 */
  PM_PUBLISH(entry->generation, (uint32_t)pool->journal.generation);
#if BUG == 2
  /* MECH, the write in place comes before the entry is persistent: it is flushed, and not fenced. */
  pm_flush(entry, sizeof *entry);
#else
  pm_persist(entry, sizeof *entry);
#endif
}

static void reclaim(void) {
  struct journal* journal = &pool->journal;
  PM_PUBLISH(journal->generation, journal->generation + 1);
  PM_PUBLISH(journal->head, journal->tail); /* @LOST 4 */
  pm_persist(journal, sizeof *journal);
}

static void change(uint64_t n) {
  struct slot* left = &pool->left[n % SLOTS];
  struct slot* right = &pool->right[n % SLOTS];
#if BUG == 3
  /* MECH, the second entry lies outside [head, tail): a restart does not see it. */
  uint64_t at = allocate(1);
#else
  uint64_t at = allocate(2);
#endif
  log_range(at, &left->value, sizeof left->value);
  log_range(at + sizeof(struct log_entry), &right->value, sizeof right->value);
#if BUG == 5
  /* MECH, the logged range has no write in place: another one is written. */
  right = &pool->right[(n + 1) % SLOTS];
#endif
  left->value = n + 1;  /* @LOST 2, @LOST 4 */
  right->value = n + 1; /* @LOST 2, @LOST 3, @LOST 4, @LOST 5 */
#if BUG == 4
  /* MECH, the head is moved before the writes in place are persistent. */
  reclaim();
#endif
  pm_flush(&left->value, sizeof left->value);
  pm_flush(&right->value, sizeof right->value);
  pm_fence();
#if BUG != 4
  reclaim();
#endif
}

static void restart(void) {
  struct journal* journal = &pool->journal;
  if (pool->magic != MAGIC) {
    journal->base = offsetof(struct pool, ring);
    journal->size = sizeof pool->ring;
    journal->head = journal->tail = 0;
    journal->generation = 1;
    pm_persist(journal, sizeof *journal);
    PM_PUBLISH(pool->magic, MAGIC);
    pm_persist(&pool->magic, sizeof pool->magic);
    return;
  }
  if (journal->head == journal->tail) return;
  for (uint64_t at = journal->tail; at != journal->head;) {
    at = (at + journal->size - sizeof(struct log_entry)) % journal->size;
    struct log_entry* entry = entry_at(at);
    if (entry->generation != (uint32_t)journal->generation) continue;
    memcpy((char*)pool + entry->addr, entry->data, entry->size);
    pm_flush((char*)pool + entry->addr, entry->size);
  }
  pm_fence();
  journal->head = journal->tail = 0;
  journal->generation += 1;
  pm_persist(journal, sizeof *journal);
}

static void verify(uint64_t operations) {
  uint64_t done = 0;
  for (unsigned i = 0; i < SLOTS; ++i) {
    pm_expect(pool->left[i].value == pool->right[i].value, "both slots agree");
    if (pool->left[i].value > done) done = pool->left[i].value;
  }
  pm_expect(done <= operations, "no more was done than there was to do");
  for (uint64_t n = 0; n < done; ++n)
    pm_expect(pool->left[n % SLOTS].value >= n + 1, "the slots are those after a whole number of operations");
  pm_expect(pm_done(done, operations), "every operation that had ended is there, and none that had not begun");
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: journal POOL [OPERATIONS]");
  uint64_t operations = argc > 2 ? strtoul(argv[2], NULL, 10) : DEFAULT_OPERATIONS;
  pool = pm_map(argv[1], sizeof *pool);
  if (!blackout_recovering()) {
    restart();
    for (uint64_t n = 0; n < operations; ++n) {
      blackout_op_begin("change", n);
      change(n);
      blackout_op_end(0);
    }
    if (blackout_active()) return 0;
  }
  restart();
  verify(operations);
  return 0;
}
