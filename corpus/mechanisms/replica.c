/* A replicated superblock: two copies, each with a checksum, of which a restart takes one that is whole.
 *
 *   replica POOL [OPERATIONS]
 *
 * An update changes the primary and its checksum, and when that is durable copies it to the secondary. A restart whose
 * primary has a wrong checksum takes the secondary, and then makes both alike.
 *
 * BUG=1..4 each bring in one mistake. */
#include <string.h>

#include "pm.h"

#define MAGIC 0x616369706572u
enum { WORDS = 10, DEFAULT_OPERATIONS = 5 };

struct super {
  __attribute__((aligned(64))) uint64_t word[WORDS];
  uint64_t count; /* operations that it has seen */
  uint64_t checksum;
};

struct pool {
  uint64_t magic; /* written last */
  struct super primary;
  struct super secondary;
};

static struct pool* pool;

static uint64_t checksum_of(const struct super* super) {
  uint64_t sum = 0xcbf29ce484222325u;
  for (unsigned i = 0; i < WORDS; ++i) sum = (sum ^ super->word[i]) * 0x100000001b3u;
  return (sum ^ super->count) * 0x100000001b3u;
}

static int is_whole(const struct super* super) { return super->checksum == checksum_of(super); }

/* The workload: operation n changes two words, in both lines. */
static void step(struct super* super, uint64_t n) {
  super->word[n % WORDS] = 100 * n + 1;       /* @LOST 1, @LOST 3 */
  super->word[(n + 7) % WORDS] = 100 * n + 2; /* @LOST 1, @LOST 3 */
  super->count = n + 1;                       /* @LOST 1, @LOST 3 */
}

static void update(uint64_t n) {
  step(&pool->primary, n);
#if BUG != 3
  pool->primary.checksum = checksum_of(&pool->primary); /* @LOST 1 */
#endif
#if BUG == 1
  /* MECH, the secondary is changed before the primary is durable: a crash may leave none that is whole. */
  pm_flush(&pool->primary, sizeof pool->primary);
#else
  pm_persist(&pool->primary, sizeof pool->primary);
#endif
#if BUG == 2
  /* MECH, the copies differ: the secondary gets the words, and not the count that its checksum is of. */
  memcpy(&pool->secondary.word, &pool->primary.word, sizeof pool->primary.word); /* @LOST 2 */
#elif BUG != 4
  memcpy(&pool->secondary, &pool->primary, sizeof pool->primary); /* @LOST 1 */
#endif
#if BUG == 4
  /* MECH, the secondary is changed field by field from the operation, and gets another word. */
  step(&pool->secondary, n);
  pool->secondary.word[0] = n; /* @LOST 4 */
  pool->secondary.checksum = checksum_of(&pool->secondary);
#endif
  pm_persist(&pool->secondary, sizeof pool->secondary);
  /* BUG == 3: MECH, the checksum is not updated: no restart trusts the primary any more, nor its copy. */
}

static void create(void) {
  memset(&pool->primary, 0, sizeof pool->primary);
  pool->primary.checksum = checksum_of(&pool->primary);
  memcpy(&pool->secondary, &pool->primary, sizeof pool->primary);
  pm_flush(&pool->primary, sizeof pool->primary);
  pm_persist(&pool->secondary, sizeof pool->secondary);
  PM_PUBLISH(pool->magic, MAGIC);
  pm_persist(&pool->magic, sizeof pool->magic);
}

static void restart(void) {
  if (pool->magic != MAGIC) {
    create();
    return;
  }
  int primary = is_whole(&pool->primary), secondary = is_whole(&pool->secondary);
  pm_expect(primary || secondary, "one of the copies is whole");
  if (primary && memcmp(&pool->primary, &pool->secondary, sizeof pool->primary) != 0) {
    memcpy(&pool->secondary, &pool->primary, sizeof pool->primary);
    pm_persist(&pool->secondary, sizeof pool->secondary);
  } else if (!primary) {
    memcpy(&pool->primary, &pool->secondary, sizeof pool->primary);
    pm_persist(&pool->primary, sizeof pool->primary);
  }
}

static void verify(uint64_t operations) {
  struct super expected;
  memset(&expected, 0, sizeof expected);
  uint64_t done = pool->primary.count;
  pm_expect(done <= operations, "no more was done than there was to do");
  for (uint64_t n = 0; n < done; ++n) step(&expected, n);
  for (unsigned i = 0; i < WORDS; ++i)
    pm_expect(pool->primary.word[i] == expected.word[i], "the words are those after a whole number of operations");
  pm_expect(pm_done(done, operations), "every operation that had ended is there, and none that had not begun");
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: replica POOL [OPERATIONS]");
  uint64_t operations = argc > 2 ? strtoul(argv[2], NULL, 10) : DEFAULT_OPERATIONS;
  pool = pm_map(argv[1], sizeof *pool);
  if (!blackout_recovering()) {
    restart();
    for (uint64_t n = 0; n < operations; ++n) {
      blackout_op_begin("update", n);
      update(n);
      blackout_op_end(0);
    }
    if (blackout_active()) return 0;
  }
  restart();
  verify(operations);
  return 0;
}
