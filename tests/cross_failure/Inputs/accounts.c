/* Accounts in nested and aborted transactions of the corpus's library, which says where they begin and end. No operation
 * is marked; the restart prints what it finds. By KIND: 0 correct; 1 a field that is changed in an inner transaction and
 * not added; 2 one that is added twice, by the outer and the inner; 3 one that is added and not written. */
#include <stdio.h>

#include "tx.h"

struct accounts {
  uint64_t balance[2] TX_ALIGNED;
  uint64_t transfers TX_ALIGNED;
};

static struct accounts* a;

static void count(void) {
  tx_begin(); /* inside another */
#if KIND != 1
  tx_add(&a->transfers, sizeof a->transfers); // ADDED
#endif
#if KIND == 2
  tx_add(&a->transfers, sizeof a->transfers); // AGAIN
#endif
  a->transfers++; // CHANGED
  tx_commit();
}

static void transfer(uint64_t amount, int fails) {
  tx_begin();
  tx_add(a->balance, sizeof a->balance);
#if KIND == 3
  tx_add((char*)a + 56, 8); // UNUSED
#endif
  a->balance[0] -= amount;
  count();
  if (fails) {
    tx_abort();
    return;
  }
  a->balance[1] += amount;
  tx_commit();
}

int main(int argc, char** argv) {
  (void)argc;
  tx_open(argv[1]);
  if (!blackout_recovering()) {
    tx_begin();
    a = (struct accounts*)tx_alloc(sizeof *a);
    a->balance[0] = 100;
    tx_add(&tx.pool->root, sizeof tx.pool->root);
    tx.pool->root = a;
    tx_commit();
    transfer(10, 0);
    transfer(20, 1);
    transfer(5, 0);
    return 0;
  }
  a = (struct accounts*)tx.pool->root;
  if (a == NULL) return 0;
  printf("%lu %lu %lu\n", (unsigned long)a->balance[0], (unsigned long)a->balance[1], (unsigned long)a->transfers);
  return 0;
}
