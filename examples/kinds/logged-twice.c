/* The same range is added to a transaction by two callers. */
/* before: ./program pool */
/* build: blackout-clang -g -O1 -mclflushopt logged-twice.c -o program -lpmemobj */
/* check: blackout check --pmdk --pm pool -- ./program pool */
#include <libpmemobj.h>
#include <stddef.h>
#include <stdint.h>

struct root {
  _Alignas(64) uint64_t count;
  _Alignas(64) uint64_t limit;
};

int main(int argc, char** argv) {
  PMEMobjpool* pop = pmemobj_open(argv[argc - 1], "example");
  if (pop == NULL) pop = pmemobj_create(argv[argc - 1], "example", PMEMOBJ_MIN_POOL, 0600);
  if (pop == NULL) return 2;
  PMEMoid oid = pmemobj_root(pop, sizeof(struct root));
  struct root* root = pmemobj_direct(oid);
  TX_BEGIN(pop) {
    pmemobj_tx_add_range(oid, offsetof(struct root, count), sizeof root->count);
#ifndef FIXED
    pmemobj_tx_add_range(oid, offsetof(struct root, count), sizeof root->count);
#endif
    root->count++;
  }
  TX_END
  pmemobj_close(pop);
  return 0;
}
