#include <libpmemobj.h>
#include <stdio.h>
struct root {
  PMEMoid kept[8];
  PMEMoid replaced;
};
int main(int argc, char** argv) {
  PMEMobjpool* pop = pmemobj_create(argv[1], "t", PMEMOBJ_MIN_POOL, 0600);
  if (pop == NULL) pop = pmemobj_open(argv[1], "t");
  if (pop == NULL) {
    perror("pmemobj");
    return 1;
  }
  struct root* r = pmemobj_direct(pmemobj_root(pop, sizeof(struct root)));
  for (int i = 0; i < 8; ++i)
    if (pmemobj_zalloc(pop, &r->kept[i], 100, 1) != 0) return 1;
  for (int i = 0; i < 4; ++i) pmemobj_free(&r->kept[2 * i]);
  for (int i = 0; i < 4; ++i) {
    TX_BEGIN(pop) {
      TX_ADD_FIELD_DIRECT(r, replaced);
      if (!OID_IS_NULL(r->replaced)) pmemobj_tx_free(r->replaced);
      r->replaced = pmemobj_tx_zalloc(100, 2);
    }
    TX_END
  }
  pmemobj_close(pop);
  return 0;
}
