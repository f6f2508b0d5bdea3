/* A superblock of three lines in two copies, in C. A commit fills the copy that is not in use, makes it durable and
 * then switches by one store. A restart prints the superblock in use, which must be that before a commit or that after
 * it. */
#include "pm.h"

#define MAGIC 0x7265707573u
#define COMMITS 3u

typedef struct {
  _Alignas(PM_LINE) volatile uint64_t generation;
  _Alignas(PM_LINE) volatile uint64_t blocks;
  _Alignas(PM_LINE) volatile uint64_t owner;
} Superblock;

typedef struct {
  volatile uint64_t magic; /* written last */
  _Alignas(PM_LINE) volatile uint64_t active;
  Superblock copy[2];
} Disk;

static const char* path;
static Disk* disk;

static void commit(uint64_t generation) {
#if BUG == 1
  const uint64_t next = disk->active;
#else
  const uint64_t next = 1 - disk->active;
#endif
  Superblock* copy = &disk->copy[next];
  copy->generation = generation;   /* (update 1) */
  copy->blocks = 100 * generation; /* (update 1) (lost 2) */
  copy->owner = 7 + generation;    /* (update 1) (lost 2) */
#if BUG == 2
  pm_persist(copy, sizeof copy);
#else
  pm_persist(copy, sizeof *copy);
#endif
  disk->active = next; /* (relies 2) */
  pm_persist((void*)&disk->active, sizeof disk->active);
}

static void setup(void) {
  disk = pm_map(path, sizeof *disk);
  disk->copy[0].generation = 1;
  disk->copy[0].blocks = 100;
  disk->copy[0].owner = 8;
  pm_persist(&disk->copy[0], sizeof disk->copy[0]);
  disk->magic = MAGIC;
  pm_persist((void*)&disk->magic, sizeof disk->magic);
}

static void operations(void) {
  for (uint64_t generation = 2; generation < 2 + COMMITS; ++generation) {
    blackout_op_begin("commit", generation);
    commit(generation);
    blackout_op_end(0);
  }
}

static void recover(void) { disk = pm_map(path, sizeof *disk); }

static void verify(void) {
  if (disk->magic != MAGIC) {
    puts("no file system");
    return;
  }
  const Superblock* copy = &disk->copy[disk->active];
  printf("generation %lu, %lu blocks, owner %lu\n", copy->generation, copy->blocks, copy->owner);
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: superblock POOL");
  path = argv[1];
  return pm_test(setup, operations, recover, verify);
}
