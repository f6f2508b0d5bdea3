// A transaction of libpmemobj, as its users write it: nothing here is Blackout's.
#include <libpmemobj.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

POBJ_LAYOUT_BEGIN(transaction);
POBJ_LAYOUT_ROOT(transaction, struct root);
POBJ_LAYOUT_END(transaction);

struct root {
  uint64_t one, two;
};

int main(int argc, char** argv) {
  PMEMobjpool* pool = access(argv[1], F_OK) == 0
                          ? pmemobj_open(argv[1], POBJ_LAYOUT_NAME(transaction))
                          : pmemobj_create(argv[1], POBJ_LAYOUT_NAME(transaction), PMEMOBJ_MIN_POOL, 0600);
  if (pool == NULL) {
    fprintf(stderr, "%s\n", pmemobj_errormsg());
    return 4;
  }
  TOID(struct root) root = POBJ_ROOT(pool, struct root);
  if (D_RO(root)->one != D_RO(root)->two) return 3;
  TX_BEGIN(pool) {
    TX_ADD_FIELD(root, one);
#ifndef BUG
    TX_ADD_FIELD(root, two);
#endif
    D_RW(root)->one = D_RO(root)->one + 1;
    D_RW(root)->two = D_RO(root)->one;
  }
  TX_END
  pmemobj_close(pool);
  return argc < 2;
}
