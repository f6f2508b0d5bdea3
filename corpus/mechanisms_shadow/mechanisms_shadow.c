/* Shadow paging: a page is never changed in place, its changed copy takes its place by one store.
 *
 *   mechanisms_shadow POOL [OPERATIONS]
 *
 * Two pages of two lines and a spare one. A change copies the page to the spare one and changes the copy; when that is
 * durable, the pointer to the page leads to the copy, and the old page is the spare one, which is whatever no pointer
 * leads to. A restart has nothing to do.
 *
 * BUG=1..3 each bring in one mistake. */
#include <string.h>

#include "pm.h"

#define MAGIC 0x776f64616873u
enum { PAGES = 2, WORDS = 15, DEFAULT_OPERATIONS = 6 };

struct page {
  __attribute__((aligned(64))) uint64_t changes;
  uint64_t word[WORDS];
};

struct pool {
  uint64_t magic; /* written last */
  struct {
    __attribute__((aligned(64))) struct page* page; /* the copy that counts */
  } at[PAGES];
  struct page copy[PAGES + 1];
};

static struct pool* pool;

static struct page* spare(void) {
  for (unsigned i = 0;; ++i) {
    int used = 0;
    for (unsigned p = 0; p < PAGES; ++p) used = used || pool->at[p].page == &pool->copy[i];
    if (!used) return &pool->copy[i];
  }
}

static void swap(unsigned p, struct page* page) {
  PM_PUBLISH(pool->at[p].page, page); /* @LOST 1, @LOST 2, @LOST 3 */
  pm_persist(&pool->at[p].page, sizeof pool->at[p].page);
}

/* The workload: change c of page p, three words in both of its lines. */
static void set_words(struct page* page, unsigned p, uint64_t c) {
  for (unsigned i = 0; i < 3; ++i) page->word[(c + 5 * i) % WORDS] = 1000 * p + 10 * c + i; /* @LOST 1, @LOST 3 */
}

static void change(unsigned p) {
  struct page* old = pool->at[p].page;
  struct page* copy = spare();
  uint64_t c = old->changes + 1;
#if BUG == 1
  /* SEM, swapped before the copy is complete: a restart finds whatever the spare page held. */
  swap(p, copy);
#elif BUG == 3
  /* SEM, the old page is changed too: it is not what it was if the swap is not reached. */
  set_words(old, p, c);
  pm_persist(old, sizeof *old);
#endif
  memcpy(copy, old, sizeof *copy); /* @LOST 1 */
#if BUG == 2
  /* SEM, the number of changes follows after the swap: a restart finds the words of a change that is not counted. */
  set_words(copy, p, c);
  pm_persist(copy, sizeof *copy);
  swap(p, copy);
  copy->changes = c; /* @LOST 2 */
  pm_persist(&copy->changes, sizeof copy->changes);
#else
  set_words(copy, p, c);
  copy->changes = c; /* @LOST 1 */
  pm_persist(copy, sizeof *copy);
#if BUG != 1
  swap(p, copy);
#endif
#endif
}

static void restart(void) {
  if (pool->magic == MAGIC) return;
  for (unsigned p = 0; p < PAGES; ++p) { /* new bytes are 0 */
    pool->at[p].page = &pool->copy[p];
    pm_flush(&pool->at[p], sizeof pool->at[p]);
  }
  pm_fence();
  PM_PUBLISH(pool->magic, MAGIC);
  pm_persist(&pool->magic, sizeof pool->magic);
}

static void verify(uint64_t operations) {
  uint64_t done = 0;
  for (unsigned p = 0; p < PAGES; ++p) {
    const struct page* page = pool->at[p].page;
    pm_expect(page >= pool->copy && page <= &pool->copy[PAGES], "a pointer leads to a page");
    pm_expect(page->changes <= operations, "no more was done than there was to do");
    struct page expected;
    memset(&expected, 0, sizeof expected);
    for (uint64_t c = 1; c <= page->changes; ++c) set_words(&expected, p, c);
    for (unsigned i = 0; i < WORDS; ++i)
      pm_expect(page->word[i] == expected.word[i], "a page is that after a whole number of changes");
    done += page->changes;
  }
  pm_expect(pool->at[0].page->changes == (done + 1) / 2, "the pages were changed in turn");
  pm_expect(pm_done(done, operations), "every change that had ended is there, and none that had not begun");
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: mechanisms_shadow POOL [OPERATIONS]");
  uint64_t operations = argc > 2 ? strtoul(argv[2], NULL, 10) : DEFAULT_OPERATIONS;
  pool = pm_map(argv[1], sizeof *pool);
  if (!blackout_recovering()) {
    restart();
    for (uint64_t n = 0; n < operations; ++n) {
      blackout_op_begin("change", n);
      change(n % PAGES);
      blackout_op_end(0);
    }
    if (blackout_active()) return 0;
  }
  restart();
  verify(operations);
  return 0;
}
