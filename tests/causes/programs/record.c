/* A record of three lines with a checksum, kept twice in turn, in C. A write goes to the older of the two and is
 * flushed as a whole; if a crash leaves only a part of it, the checksum tells, and the other one counts. A restart
 * expects the last one that was written. */
#include "pm.h"

#define MAGIC 0x64726f636572u
#define PARTS 2u
#define WRITES 3u

typedef struct {
  _Alignas(PM_LINE) volatile uint64_t word;
} Part;

typedef struct {
  _Alignas(PM_LINE) volatile uint64_t sequence; /* from 1 */
  volatile uint64_t sum;
  Part part[PARTS];
} Record;

typedef struct {
  Record record[2];
} Store;

static const char* path;
static Store* store;

static uint64_t sum_of(const Record* record) {
  uint64_t sum = 14695981039346656037u ^ record->sequence;
  for (unsigned i = 0; i < PARTS; ++i) sum = (sum ^ record->part[i].word) * 1099511628211u;
  return sum;
}

static void write_record(uint64_t sequence) {
#if BUG == 1
  Record* record = &store->record[0];
#else
  Record* record = &store->record[sequence % 2];
#endif
  record->sequence = sequence;                                                         /* (update 1) */
  for (unsigned i = 0; i < PARTS; ++i) record->part[i].word = sequence * 1000 + i + 1; /* (update 1) (lost 2) */
  record->sum = sum_of(record);                                                        /* (update 1) */
#if BUG == 2
  pm_persist(record, PM_LINE);
#else
  pm_persist(record, sizeof *record);
#endif
}

static void setup(void) { store = pm_map(path, sizeof *store); }

static void operations(void) {
  for (uint64_t sequence = 1; sequence <= WRITES; ++sequence) {
    blackout_op_begin("write", sequence);
    write_record(sequence);
    blackout_op_end(0);
  }
}

static void recover(void) { store = pm_map(path, sizeof *store); }

static void verify(void) {
  uint64_t newest = 0;
  for (unsigned i = 0; i < 2; ++i) {
    const Record* record = &store->record[i];
    const uint64_t sequence = record->sequence;
    if (sequence > newest && record->sum == sum_of(record)) newest = sequence;
  }
  pm_expect(pm_done(newest, WRITES), "the last record that was written is there");
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: record POOL");
  path = argv[1];
  return pm_test(setup, operations, recover, verify);
}
