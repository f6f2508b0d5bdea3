#include <libpmemobj.h>
#include <stdio.h>
struct root {
  uint64_t a[32];
};
int main(int argc, char** argv) {
  PMEMobjpool* pop = pmemobj_create(argv[1], "t", PMEMOBJ_MIN_POOL, 0600);
  if (pop == NULL) pop = pmemobj_open(argv[1], "t");
  if (pop == NULL) {
    perror("pmemobj");
    return 1;
  }
  PMEMoid oid = pmemobj_root(pop, sizeof(struct root));
  struct root* r = pmemobj_direct(oid);
  for (uint64_t i = 0; i < 8; ++i) {
    TX_BEGIN(pop) {
      pmemobj_tx_add_range_direct(&r->a[i], 16);
      r->a[i] = i + 1;
      r->a[i + 1] = i + 2;
      pmemobj_tx_add_range_direct(&r->a[20], 8);
      r->a[20] = i + 1;
    }
    TX_END
  }
  pmemobj_close(pop);
  return 0;
}
