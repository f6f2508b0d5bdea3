/* libpmemobj: a transaction on the root object. PMDK's own `pmempool check` is the restart. */
#include <fcntl.h>
#include <immintrin.h>
#include <libpmemobj.h>
#include <sys/mman.h>

#include "check.h"

struct root {
  char value[8][64];
};

/* The mistake: the pool's own description is wrong for a moment, which is never flushed before it is right again. */
static void damage(char* path) {
  int fd = open(path, O_RDWR);
  NEED(fd >= 0, path);
  char* p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  NEED(p != MAP_FAILED, path);
  p[40] ^= 1;
  _mm_clflush(p + 40);
  _mm_sfence();
  p[40] ^= 1;
  _mm_clflush(p + 40);
  _mm_sfence();
}

int main(int argc, char** argv) {
  if (strcmp(argv[2], "damage") == 0) return damage(argv[1]), 0;
  PMEMobjpool* pool = pmemobj_open(argv[1], "store");
  NEED(pool != NULL, pmemobj_errormsg());
  struct root* root = pmemobj_direct(pmemobj_root(pool, sizeof(struct root)));
  TX_BEGIN(pool) {
    for (int i = 3; i + 1 < argc && i < 19; i += 2) {
      char* value = root->value[(i - 3) / 2];
      pmemobj_tx_add_range_direct(value, 64);
      strncpy(value, argv[i + 1], 63);
    }
  }
  TX_END
  pmemobj_close(pool);
  return 0;
}
