/* A table of slots, in C. All of a slot is in one line, its state stored last; `newest` says which slot was filled last
 * and moves when that slot is durable. A cell is a number and its complement, replaced by one store of 8 bytes. A
 * restart exits with 3, 4 or 5 if it finds something wrong. */
#include "pm.h"

#define MAGIC 0x73746f6c73u
#define SLOTS 4u
#define USED 1u

typedef union {
  volatile uint64_t word;
  struct {
    volatile uint32_t number, complement;
  } half;
} Cell;

typedef struct {
  _Alignas(PM_LINE) volatile uint64_t state;
  volatile uint64_t key;
  Cell cell;
} Slot;

typedef struct {
  volatile uint64_t magic;                    /* written last */
  _Alignas(PM_LINE) volatile uint64_t newest; /* from 1; 0: none */
  Slot slot[SLOTS];
} Table;

static Table* table;

static uint64_t cell_of(uint32_t number) { return (uint64_t)~number << 32 | number; }

static void fill(unsigned i, uint64_t key, uint32_t number) {
  Slot* slot = &table->slot[i];
#if BUG == 1
  slot->state = USED; /* (relies 1) */
#endif
  slot->cell.word = cell_of(number); /* (lost 1, 3) */
  slot->key = key;                   /* (lost 1, 3) */
#if BUG != 1
  slot->state = USED; /* (lost 3) */
#endif
#if BUG == 3
  slot->state = USED; /* (lost 3) */
  pm_flush(slot, sizeof *slot);
#else
  pm_persist(slot, sizeof *slot);
#endif
  table->newest = i + 1; /* (relies 3) */
  pm_persist((void*)&table->newest, sizeof table->newest);
}

static void replace(unsigned i, uint32_t number) {
  Slot* slot = &table->slot[i];
#if BUG == 2
  slot->cell.half.number = number;      /* (update 2) */
  slot->cell.half.complement = ~number; /* (update 2) */
#else
  slot->cell.word = cell_of(number);
#endif
  pm_persist(slot, sizeof *slot);
}

static int check(void) {
  if (table->newest && table->slot[table->newest - 1].state != USED) return 3;
  for (unsigned i = 0; i < SLOTS; ++i) {
    const Slot* slot = &table->slot[i];
    if (slot->state != USED) continue;
    if (slot->key != 7 * (i + 1)) return 4;
    if (slot->cell.half.complement != ~slot->cell.half.number) return 5;
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: slots POOL");
  table = pm_map(argv[1], sizeof *table);
  if (table->magic == MAGIC) return check();
  table->magic = MAGIC;
  pm_persist((void*)&table->magic, sizeof table->magic);
  for (unsigned i = 0; i < SLOTS; ++i) fill(i, 7 * (i + 1), 1000 + i);
  for (unsigned i = 0; i < 2; ++i) replace(i, 2000 + i);
  return 0;
}
