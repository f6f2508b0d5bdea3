/* A transaction counts in two places and has logged one; a restart notices nothing. */
/* before: ./program pool */
/* build: blackout-clang -g -O1 -mclflushopt unlogged-store.c -o program -lpmemobj */
/* check: blackout check --pmdk --pm pool -- ./program pool */
#include <libpmemobj.h>
#include <stddef.h>
#include <stdint.h>

struct root {
  _Alignas(64) uint64_t in;
  _Alignas(64) uint64_t out;
};

int main(int argc, char** argv) {
  PMEMobjpool* pop = pmemobj_open(argv[argc - 1], "example");
  if (pop == NULL) pop = pmemobj_create(argv[argc - 1], "example", PMEMOBJ_MIN_POOL, 0600);
  if (pop == NULL) return 2;
  PMEMoid oid = pmemobj_root(pop, sizeof(struct root));
  struct root* root = pmemobj_direct(oid);
  TX_BEGIN(pop) {
    pmemobj_tx_add_range(oid, offsetof(struct root, in), sizeof root->in);
    root->in++;
#ifdef FIXED
    pmemobj_tx_add_range(oid, offsetof(struct root, out), sizeof root->out);
#endif
    root->out++;
#ifndef FIXED
    pmemobj_persist(pop, &root->out, sizeof root->out);
#endif
  }
  TX_END
  int wrong = root->in == 0;
  pmemobj_close(pop);
  return wrong;
}
