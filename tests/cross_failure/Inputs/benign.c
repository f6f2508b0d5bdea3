/* Races that are meant: what the restart reads may be lost or not, and all is well. By KIND:
 * 1 a flag, and recovery says in its own words what it found; 2 a counter that recovery counts again after it printed
 * nothing of it; 3 one store that switches from old to new; 4 a record with a checksum; 5 as 1, and beside it a counter
 * that is never flushed, which the restart reads and forgets; 6 as 1, and its words have data in them; 7 a slot with a
 * flag, whose value is updated in place by one store; 8 a flag that says that a sum must be made again. */
#include "pool.h"

struct pool {
  uint64_t flag LINE;
  uint64_t old LINE;
  uint64_t data LINE;
  uint64_t counter LINE;
  uint64_t slots[4] LINE;
  struct record {
    uint64_t sum, number, word;
  } LINE records[2];
};

#if KIND == 4
static uint64_t checksum(const struct record* r) { return (r->number * 31 + r->word) * 31 + 7; }
#endif

static void one(uint64_t i) {
#if KIND == 1 || KIND == 5 || KIND == 6
  l->old = l->data;
#if KIND == 5
  l->counter++;
#endif
  persist(&l->old);
  SET(l->flag, 1);
  persist(&l->flag);
  l->data = i + 1;
  persist(&l->data);
  SET(l->flag, 0);
  persist(&l->flag);
#elif KIND == 2
  l->counter++;
  SET(l->slots[i], i + 1);
  flush(&l->counter);
  persist(&l->slots[i]);
#elif KIND == 3
  SET(l->data, i + 1);
  persist(&l->data);
#elif KIND == 7
  /* insert, update, remove, insert, update */
  if (i == 2) {
    SET(l->flag, 0);
    persist(&l->flag);
    return;
  }
  SET(l->data, i + 10);
  persist(&l->data);
  if (i == 0 || i == 3) {
    SET(l->flag, 1);
    persist(&l->flag);
  }
#elif KIND == 8
  SET(l->flag, 1);
  persist(&l->flag);
  SET(l->slots[i % 4], i + 1);
  persist(&l->slots[i % 4]);
  l->data = l->slots[0] + l->slots[1] + l->slots[2] + l->slots[3];
  persist(&l->data);
  SET(l->flag, 0);
  persist(&l->flag);
#elif KIND == 4
  /* The older of two is overwritten, in any order and with one fence. */
  struct record* r = &l->records[i % 2];
  r->number = i + 1;
  r->word = 10 * i;
  r->sum = checksum(r);
  persist(r);
#endif
}

static void operations(void) {
  for (uint64_t i = 0; i < (KIND == 7 ? 5 : 3); ++i) OPERATION("one", i, one(i));
}

static void restart(void) {
#if KIND == 1 || KIND == 5 || KIND == 6
#if KIND == 5
  static volatile uint64_t forgotten;
  forgotten = l->counter;
#endif
  if (l->flag) {
#if KIND == 6
    printf("rolled back %lu to %lu\n", (unsigned long)l->data, (unsigned long)l->old);
#else
    printf("rolled back\n");
#endif
    l->data = l->old;
    persist(&l->data);
    SET(l->flag, 0);
    persist(&l->flag);
  }
  printf("%lu\n", (unsigned long)l->data);
#elif KIND == 2
  uint64_t before = l->counter, count = 0;
  for (int i = 0; i < 4; ++i) count += l->slots[i] != 0;
  l->counter = count;
  persist(&l->counter);
  if (before > 4) printf("impossible\n");
#elif KIND == 3
  printf("%lu\n", (unsigned long)l->data);
#elif KIND == 7
  if (l->flag)
    printf("%lu\n", (unsigned long)l->data);
  else
    printf("none\n");
#elif KIND == 8
  uint64_t sum = 0;
  if (l->flag) {
    for (int i = 0; i < 4; ++i) sum += l->slots[i];
    l->data = sum;
    persist(&l->data);
    SET(l->flag, 0);
    persist(&l->flag);
  }
  printf("%lu\n", (unsigned long)l->data);
#elif KIND == 4
  uint64_t newest = 0, word = 0;
  for (int i = 0; i < 2; ++i) {
    struct record* r = &l->records[i];
    if (r->sum == checksum(r) && r->number > newest) {
      newest = r->number;
      word = r->word;
    }
  }
  printf("%lu %lu\n", (unsigned long)newest, (unsigned long)word);
#endif
}
MAIN
