/* A log-structured file: entries are appended to pages that lead to each other, and the inode's tail commits them.
 *
 *   pagelog POOL [OPERATIONS]
 *
 * What is behind the tail does not count. A restart has nothing to do.
 *
 * BUG=1..3 each bring in one mistake. */
#include <string.h>

#include "pm.h"

#define MAGIC 0x676f6c65676170u
enum { PAGE = 256, PAGES = 8, DEFAULT_OPERATIONS = 8 };

struct record {
  uint64_t number; /* from 1; never 0 */
  uint64_t twice;
  uint8_t text[48];
};

struct page_tail {
  uint64_t next;
};

struct page {
  struct record record[3];
  uint8_t padding[PAGE - 3 * sizeof(struct record) - sizeof(struct page_tail)];
  struct page_tail end;
};

struct inode {
  uint64_t log_head;
  uint64_t log_tail; /* offset in the pool; what is before it counts */
};

struct pool {
  uint64_t magic; /* written last */
  __attribute__((aligned(64))) struct inode inode;
  __attribute__((aligned(PAGE))) struct page page[PAGES];
};

static struct pool* pool;

static void* at(uint64_t offset) { return (char*)pool + offset; }
static uint64_t page_of(uint64_t offset) { return offset / PAGE * PAGE; }

/* Where the next record goes: a page has room for three. */
static uint64_t room(void) {
  uint64_t tail = pool->inode.log_tail;
  if (tail % PAGE + sizeof(struct record) <= 3 * sizeof(struct record)) return tail;
#if BUG == 2
  /* MECH, an entry outside the log page: it goes over the page's end. */
  return tail + 32;
#endif
  struct page* page = at(page_of(tail));
  uint64_t next = page_of(tail) + PAGE;
  page->end.next = next;
  pm_persist(&page->end, sizeof page->end);
  return next;
}

static void append(uint64_t n) {
  uint64_t place = room();
#if BUG == 3
  /* MECH, two entries overlap: the second begins before the first one ends. */
  struct record* other = at(place + sizeof(struct record) / 2);
  other->number = 1000;
  other->twice = 2000;
  pm_persist(other, sizeof *other);
#endif
  struct record* record = at(place);
  record->number = n + 1;      /* @LOST 1 */
  record->twice = 2 * (n + 1); /* @LOST 1 */
#if BUG == 1
  /* MECH, the tail is moved before the entry is persistent. */
  pm_flush(record, sizeof *record);
#else
  pm_persist(record, sizeof *record);
#endif
  PM_PUBLISH(pool->inode.log_tail, place + sizeof *record);
  pm_persist(&pool->inode, sizeof pool->inode);
}

static void restart(void) {
  if (pool->magic == MAGIC) return;
  pool->inode.log_head = pool->inode.log_tail = offsetof(struct pool, page);
  pm_persist(&pool->inode, sizeof pool->inode);
  PM_PUBLISH(pool->magic, MAGIC);
  pm_persist(&pool->magic, sizeof pool->magic);
}

static void verify(uint64_t operations) {
  uint64_t done = 0;
  for (uint64_t place = pool->inode.log_head; place != pool->inode.log_tail; ++done) {
    if (place % PAGE + sizeof(struct record) > 3 * sizeof(struct record)) {
      place = ((struct page*)at(page_of(place)))->end.next;
      pm_expect(place % PAGE == 0 && place != 0 && place < sizeof *pool, "a page leads to the next");
    }
    const struct record* record = at(place);
    pm_expect(record->number == done + 1 && record->twice == 2 * (done + 1), "a record is whole");
    place += sizeof *record;
  }
  pm_expect(done <= operations, "no more was done than there was to do");
  pm_expect(pm_done(done, operations), "every record that had been appended is there, and none that had not");
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: pagelog POOL [OPERATIONS]");
  uint64_t operations = argc > 2 ? strtoul(argv[2], NULL, 10) : DEFAULT_OPERATIONS;
  pool = pm_map(argv[1], sizeof *pool);
  if (!blackout_recovering()) {
    restart();
    for (uint64_t n = 0; n < operations; ++n) {
      blackout_op_begin("append", n);
      append(n);
      blackout_op_end(0);
    }
    if (blackout_active()) return 0;
  }
  restart();
  verify(operations);
  return 0;
}
