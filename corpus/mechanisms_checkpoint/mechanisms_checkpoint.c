/* Checkpointing: the state is in volatile memory, and every operation ends with a checkpoint of all of it.
 *
 *   mechanisms_checkpoint POOL [OPERATIONS]
 *
 * Five areas take the checkpoints in turn. When one is durable, the number of the checkpoint is stored as one of four
 * that are kept, in turn too, so that every number that is kept is that of a whole checkpoint. A restart looks for the
 * highest number and takes the state from the area of that.
 *
 * BUG=1..3 each bring in one mistake. */
#include <string.h>

#include "pm.h"

#define MAGIC 0x7463656863u
enum { WORDS = 12, KEPT = 4, AREAS = KEPT + 1, DEFAULT_OPERATIONS = 7 };

struct state {
  uint64_t word[WORDS];
  uint64_t operations;
};

struct pool {
  uint64_t magic;                                        /* written last */
  __attribute__((aligned(64))) uint64_t committed[KEPT]; /* numbers of the last checkpoints that are whole */
  struct {
    __attribute__((aligned(64))) struct state state;
  } area[AREAS];
};

static struct pool* pool;
static struct state now; /* volatile */

static struct state* area_of(uint64_t checkpoint) { return &pool->area[checkpoint % AREAS].state; }

__attribute__((unused)) static uint64_t last_committed(void) {
  uint64_t last = 0;
  for (unsigned i = 0; i < KEPT; ++i)
    if (pool->committed[i] > last) last = pool->committed[i];
  return last;
}

static void set_committed(uint64_t checkpoint) {
  PM_PUBLISH(pool->committed[checkpoint % KEPT], checkpoint); /* @LOST 1, @LOST 2, @LOST 3 */
  pm_persist(pool->committed, sizeof pool->committed);
}

static void checkpoint(void) {
  uint64_t next = now.operations;
#if BUG == 1
  /* SEM, committed before it is written: a restart takes a state of which parts are of an earlier checkpoint. */
  set_committed(next);
#endif
  struct state* area = area_of(next);
#if BUG == 2
  /* SEM, committed before it is complete: the number of operations follows. A restart finds that of an earlier one. */
  memcpy(area->word, now.word, sizeof now.word);
  pm_persist(area->word, sizeof area->word);
  set_committed(next);
  area->operations = now.operations; /* @LOST 2 */
  pm_persist(&area->operations, sizeof area->operations);
#else
  memcpy(area, &now, sizeof now); /* @LOST 1, @LOST 3 */
  pm_persist(area, sizeof *area);
#if BUG != 1
  set_committed(next);
#endif
#endif
}

/* The workload: operation n changes three words. */
static void step(struct state* state, uint64_t n) {
  for (unsigned i = 0; i < 3; ++i) state->word[(5 * n + 4 * i) % WORDS] = 100 * n + i + 1;
  state->operations = n + 1;
}

static void restart(void) {
  if (pool->magic != MAGIC) { /* new bytes are 0: checkpoint 0 is the state before the first operation */
    PM_PUBLISH(pool->magic, MAGIC);
    pm_persist(&pool->magic, sizeof pool->magic);
  }
#if BUG == 3
  /* SEM, an older checkpoint than the last committed one: the number that is kept last, not the highest. */
  uint64_t last = 0;
  for (unsigned i = 0; i < KEPT; ++i)
    if (pool->committed[i] > 0) last = pool->committed[i];
  memcpy(&now, area_of(last), sizeof now);
#else
  memcpy(&now, area_of(last_committed()), sizeof now);
#endif
}

static void verify(uint64_t operations) {
  struct state expected;
  memset(&expected, 0, sizeof expected);
  pm_expect(now.operations <= operations, "no more was done than there was to do");
  for (uint64_t n = 0; n < now.operations; ++n) step(&expected, n);
  for (unsigned i = 0; i < WORDS; ++i)
    pm_expect(now.word[i] == expected.word[i], "the state is that after a whole number of operations");
  pm_expect(pm_done(now.operations, operations),
            "every operation that had ended is there, and none that had not begun");
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: mechanisms_checkpoint POOL [OPERATIONS]");
  uint64_t operations = argc > 2 ? strtoul(argv[2], NULL, 10) : DEFAULT_OPERATIONS;
  pool = pm_map(argv[1], sizeof *pool);
  if (!blackout_recovering()) {
    restart();
    /* A state counts by the number that was stored last. */
    blackout_commit_var(pool->committed, sizeof pool->committed);
    blackout_commit_range(pool->committed, pool->area, sizeof pool->area);
    for (uint64_t n = 0; n < operations; ++n) {
      blackout_op_begin("step", n);
      step(&now, n);
      checkpoint();
      blackout_op_end(0);
    }
    if (blackout_active()) return 0;
  }
  restart();
  verify(operations);
  return 0;
}
