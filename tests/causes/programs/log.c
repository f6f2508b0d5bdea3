/* An append-only log, in C. An entry takes two lines and is durable before the count says that it is there; an append
 * has ended when the count is durable. */
#include "pm.h"

#define MAGIC 0x676f6cu
#define APPENDS 4u

typedef struct {
  volatile uint64_t number; /* from 1 */
  volatile uint64_t amount;
  _Alignas(PM_LINE) volatile uint64_t trailer; /* the number again */
} Entry;

typedef struct {
  volatile uint64_t magic; /* written last */
  _Alignas(PM_LINE) volatile uint64_t count;
  Entry entry[APPENDS];
} Book;

static const char* path;
static Book* book;

static uint64_t amount_of(uint64_t number) { return number * 100; }

static void append(void) {
  const uint64_t number = book->count + 1;
  Entry* entry = &book->entry[number - 1];
  entry->number = number;            /* (lost 1) */
  entry->amount = amount_of(number); /* (lost 1) */
  entry->trailer = number;           /* (lost 1) */
#if BUG == 1
  pm_fence();
#else
  pm_persist(entry, sizeof *entry);
#endif
  book->count = number; /* (relies 1) (lost 2) */
#if BUG != 2
  pm_persist((void*)&book->count, sizeof book->count);
#endif
}

static void format(void) {
  book->magic = MAGIC;
  pm_persist((void*)&book->magic, sizeof book->magic);
}

static void setup(void) {
  book = pm_map(path, sizeof *book);
  format();
}

static void operations(void) {
  for (uint64_t i = 0; i < APPENDS; ++i) {
    blackout_op_begin("append", i + 1);
    append();
    blackout_op_end(0);
  }
}

static void recover(void) {
  book = pm_map(path, sizeof *book);
  if (book->magic != MAGIC) format();
}

static void verify(void) {
  const uint64_t count = book->count;
  for (uint64_t i = 0; i < count; ++i) {
    pm_expect(book->entry[i].number == i + 1, "an entry has its number");
    pm_expect(book->entry[i].amount == amount_of(i + 1), "an entry has its amount");
    pm_expect(book->entry[i].trailer == i + 1, "an entry has its trailer");
  }
  pm_expect(pm_done(count, APPENDS), "every append that had ended is there");
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: log POOL");
  path = argv[1];
  return pm_test(setup, operations, recover, verify);
}
