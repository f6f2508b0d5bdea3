/* A persistent ring buffer between a producer and a consumer, in C.
 *
 *   ring POOL [OPERATIONS]
 *
 * head and tail count the entries ever taken and ever pushed. An entry is durable before the tail moves past it. The
 * consumer takes an entry by copying it to where its own work begins, one of two places in turn, and moves the head
 * when the copy is durable; so an entry is never lost between the two, and at worst taken again after a crash.
 * Entries are a line and a half, so they share lines.
 *
 * BUG=1..5 each bring in one mistake. */
#include <string.h>

#include "pm.h"

#define MAGIC 0x676e6972u
#define POOL_SIZE (64u << 10)
#define CAPACITY 4u
#define WORDS 11u

typedef struct {
  uint64_t sequence; /* from 1 */
  uint64_t word[WORDS];
} Entry;

typedef struct {
  uint64_t magic; /* written last */
  _Alignas(PM_LINE) uint64_t head;
  _Alignas(PM_LINE) uint64_t tail;
  _Alignas(PM_LINE) Entry taken[2];
  _Alignas(PM_LINE) Entry entry[CAPACITY];
} Ring;

static const char* path;
static uint64_t operation_count = 12;
static Ring* ring;

/* What the workload has reached; volatile memory. */
static struct {
  unsigned full, empty, wrapped;
} reached;

static uint64_t word_of(uint64_t sequence, unsigned i) { return sequence << 8 | (i + 1); }

static int is_whole(const Entry* entry, uint64_t sequence) {
  if (entry->sequence != sequence) return 0;
  for (unsigned i = 0; i < WORDS; ++i)
    if (entry->word[i] != word_of(sequence, i)) return 0;
  return 1;
}

static void move_tail(void) { PM_PUBLISH(ring->tail, ring->tail + 1); /* @LOST 5 */ }

static void push(void) {
  const uint64_t sequence = ring->tail + 1;
  Entry* entry = &ring->entry[ring->tail % CAPACITY];
  reached.wrapped += entry->sequence != 0;
#if BUG == 1
  /* ID, wrong order: the tail moves before the entry is written. A crash may find the tail and not the entry. */
  move_tail();
#endif
  entry->sequence = sequence;
  for (unsigned i = 0; i < WORDS; ++i) entry->word[i] = word_of(sequence, i); /* @LOST 1 @LOST 2 @LOST 4 */
#if BUG == 2
  /* ID, missing flush: an entry is longer than a line, and only its first line is flushed. */
  pm_persist(entry, 1);
#elif BUG == 4
  /* ID, missing fence: the entry's write-back has only begun when the tail moves. */
  pm_flush(entry, sizeof *entry);
#else
  pm_persist(entry, sizeof *entry);
#endif
#if BUG != 1
  move_tail();
#endif
#if BUG == 5
  /* ID, missing flush: the tail itself stays in the caches. After a crash, entries that were pushed are gone. */
#else
  pm_persist(&ring->tail, sizeof ring->tail);
#endif
  reached.full += ring->tail - ring->head == CAPACITY;
}

static void move_head(void) { PM_PUBLISH(ring->head, ring->head + 1); }

static void take(void) {
  const Entry* entry = &ring->entry[ring->head % CAPACITY];
  Entry* taken = &ring->taken[ring->head % 2];
#if BUG == 3
  /* ID, wrong order: the head moves before the copy is made. A crash may find neither entry nor copy. */
  move_head();
#endif
  memcpy(taken, entry, sizeof *taken); /* @LOST 3 */
  pm_persist(taken, sizeof *taken);
#if BUG != 3
  move_head();
#endif
  pm_persist(&ring->head, sizeof ring->head);
  reached.empty += ring->tail == ring->head;
}

/* Fills the ring, makes it wrap and empties it, in every twelve. */
static int is_push(uint64_t operation) { return "PPPPtttPPttt"[operation % 12] == 'P'; }

/* A new file is zeros, which is an empty ring. */
static void format(void) {
  PM_PUBLISH(ring->magic, (uint64_t)MAGIC);
  pm_persist(&ring->magic, sizeof ring->magic);
}

static void setup(void) {
  ring = pm_map(path, POOL_SIZE);
  if (ring->magic == MAGIC) pm_die("the pool holds a ring already: remove it first");
  format();
}

static void operations(void) {
  for (uint64_t i = 0; i < operation_count; ++i) {
    blackout_op_begin(is_push(i) ? "push" : "take", is_push(i) ? ring->tail + 1 : ring->head + 1);
    if (is_push(i))
      push();
    else
      take();
    blackout_op_end(0);
  }
  if (operation_count >= 12)
    pm_expect(reached.full && reached.empty && reached.wrapped, "the workload reaches everything");
}

/* Needs to fix nothing: every state that a crash can leave is a ring. */
static void recover(void) {
  ring = pm_map(path, POOL_SIZE);
  if (ring->magic != MAGIC) format();
}

static void verify(void) {
  const uint64_t head = ring->head;
  const uint64_t tail = ring->tail;
  pm_expect(head <= tail && tail - head <= CAPACITY, "head and tail fit each other");
  for (uint64_t i = head; i < tail; ++i)
    pm_expect(is_whole(&ring->entry[i % CAPACITY], i + 1), "every entry between head and tail is whole");
  pm_expect(head == 0 || is_whole(&ring->taken[(head - 1) % 2], head), "the last entry taken has arrived whole");

  uint64_t n = 0;
  uint64_t pushed = 0;
  while (n < operation_count && (pushed != tail || n - pushed != head)) pushed += is_push(n++);
  pm_expect(pushed == tail && n - pushed == head, "head and tail are those after a whole number of operations");
  pm_expect(pm_done(n, operation_count), "every operation that had ended is there, and none that had not begun");
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: ring POOL [OPERATIONS]");
  path = argv[1];
  if (argc > 2) operation_count = strtoull(argv[2], NULL, 10);
  return pm_test(setup, operations, recover, verify);
}
