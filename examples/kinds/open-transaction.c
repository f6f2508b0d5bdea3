/* An early return leaves a transaction open. */
/* before: ./program pool */
/* build: blackout-clang -g -O1 -mclflushopt open-transaction.c -o program -lpmemobj */
/* check: blackout check --pmdk --pm pool -- ./program pool */
#include <libpmemobj.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct root {
  uint64_t count;
};

int main(int argc, char** argv) {
  PMEMobjpool* pop = pmemobj_open(argv[argc - 1], "example");
  if (pop == NULL) pop = pmemobj_create(argv[argc - 1], "example", PMEMOBJ_MIN_POOL, 0600);
  if (pop == NULL) return 2;
  PMEMoid oid = pmemobj_root(pop, sizeof(struct root));
  struct root* root = pmemobj_direct(oid);
  TX_BEGIN(pop) {
    pmemobj_tx_add_range(oid, 0, sizeof *root);
    root->count++;
#ifndef FIXED
    if (root->count < 10) exit(0);
#endif
  }
  TX_END
  pmemobj_close(pop);
  return 0;
}
