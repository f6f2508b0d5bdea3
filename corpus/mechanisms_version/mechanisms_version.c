/* Versions: of two copies of a record, that with the newer version counts.
 *
 *   mechanisms_version POOL [OPERATIONS]
 *
 * A write fills the copy with the older version, and when that is durable raises its version above the other's.
 * Versions have two bits: they are compared by their difference, which is never more than one. A restart has nothing to
 * do.
 *
 * BUG=1..3 each bring in one mistake. */
#include "pm.h"

#define MAGIC 0x737276u
enum { WORDS = 10, DEFAULT_OPERATIONS = 6 };

struct copy {
  __attribute__((aligned(64))) uint64_t version; /* which copy counts */
  __attribute__((aligned(64))) uint64_t word[WORDS];
};

struct pool {
  uint64_t magic; /* written last */
  struct copy copy[2];
};

static struct pool* pool;

static struct copy* newest(void) {
#if BUG == 3
  /* SEM, an older version is taken: compared as numbers, the version after 3 is less than 3. */
  return &pool->copy[pool->copy[1].version > pool->copy[0].version];
#else
  return &pool->copy[((pool->copy[1].version - pool->copy[0].version) & 3) == 1];
#endif
}

__attribute__((unused)) static void set_version(struct copy* copy, uint64_t version) {
  PM_PUBLISH(copy->version, version & 3); /* @LOST 1, @LOST 2, @LOST 3 */
  pm_persist(&copy->version, sizeof copy->version);
}

static void write_record(uint64_t value) {
#if BUG == 3
  struct copy* newer = &pool->copy[(value - 1) % 2]; /* only who reads is mistaken */
#else
  struct copy* newer = newest();
#endif
  struct copy* older = newer == pool->copy ? pool->copy + 1 : pool->copy;
#if BUG == 2
  /* SEM, the wrong copy: the newer one is overwritten as it is, and until it is whole there is none. */
  older = newer;
#endif
#if BUG == 1
  /* SEM, the version first: a restart takes a copy with words of two versions. */
  set_version(older, newer->version + 1);
#endif
  for (unsigned i = 0; i < WORDS; ++i) older->word[i] = value << 8 | i; /* @LOST 1, @LOST 2, @LOST 3 */
  pm_persist(older->word, sizeof older->word);
#if BUG != 1 && BUG != 2
  set_version(older, newer->version + 1);
#endif
}

static void restart(void) {
  if (pool->magic == MAGIC) return;
  for (unsigned i = 0; i < WORDS; ++i) pool->copy[0].word[i] = i; /* value 0; new bytes are 0, and 0 - 0 isn't 1 */
  pm_persist(pool->copy[0].word, sizeof pool->copy[0].word);
  PM_PUBLISH(pool->magic, MAGIC);
  pm_persist(&pool->magic, sizeof pool->magic);
}

static void verify(uint64_t operations) {
  const struct copy* copy = newest();
  uint64_t value = copy->word[0] >> 8;
  for (unsigned i = 0; i < WORDS; ++i) pm_expect(copy->word[i] == (value << 8 | i), "the record is whole");
  pm_expect(value <= operations, "no more was done than there was to do");
  pm_expect(pm_done(value, operations), "every write that had ended is there, and none that had not begun");
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: mechanisms_version POOL [OPERATIONS]");
  uint64_t operations = argc > 2 ? strtoul(argv[2], NULL, 10) : DEFAULT_OPERATIONS;
  pool = pm_map(argv[1], sizeof *pool);
  if (!blackout_recovering()) {
    restart();
    for (unsigned i = 0; i < 2; ++i) {
      blackout_commit_var(&pool->copy[i].version, sizeof pool->copy[i].version);
      blackout_commit_range(&pool->copy[i].version, pool->copy[i].word, sizeof pool->copy[i].word);
    }
    for (uint64_t n = 0; n < operations; ++n) {
      blackout_op_begin("write", n);
      write_record(n + 1);
      blackout_op_end(0);
    }
    if (blackout_active()) return 0;
  }
  restart();
  verify(operations);
  return 0;
}
