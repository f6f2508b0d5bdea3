/* Accounts kept by transactions of libpmemobj, in C.
 *
 *   tx POOL create    makes the pool
 *   tx POOL           checks it (a restart ends here), transfers, and makes a note
 *
 * A transfer adds both balances to its transaction before it changes them. The note's constructor makes it durable, and
 * then libpmemobj makes the root lead to it. A restart exits with 3 if money was made or lost, with 4 if the note is
 * empty. */
#include <libpmemobj.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "blackout/blackout.h"

#ifndef BUG
#define BUG 0
#endif

struct balance {
  uint64_t money;
  char other[120]; /* so that no two balances share a line, wherever libpmemobj puts the root */
};

struct note {
  uint64_t from; /* in one line with libpmemobj's header of the object, which is flushed before the constructor runs */
  char text[64];
  uint64_t money;
};

struct root {
  struct balance balance[2];
  PMEMoid note;
};

static PMEMobjpool* pop;
static struct root* root;

static void transfer(uint64_t money) {
  TX_BEGIN(pop) {
    pmemobj_tx_add_range_direct(&root->balance[0].money, sizeof(uint64_t));
    root->balance[0].money -= money;
#if BUG == 0 || BUG == 3
    pmemobj_tx_add_range_direct(&root->balance[1].money, sizeof(uint64_t));
#endif
    root->balance[1].money += money; /* (update 1, 2) */
#if BUG == 2
    pmemobj_tx_add_range_direct(&root->balance[1].money, sizeof(uint64_t)); /* (update 2) */
#endif
  }
  TX_END
}

static int write_note(PMEMobjpool* pool, void* object, void* money) {
  struct note* note = object;
  (void)pool;
  note->from = 1;                  /* (lost 3) */
  note->money = *(uint64_t*)money; /* (lost 3) */
#if BUG != 3
  pmemobj_persist(pool, note, sizeof *note);
#endif
  return 0;
}

static int check(void) {
  if (root->balance[0].money + root->balance[1].money != 1000) return 3;
  if (OID_IS_NULL(root->note)) return 0;
  const struct note* note = pmemobj_direct(root->note);
  return note->from != 1 || note->money != 30 ? 4 : 0;
}

int main(int argc, char** argv) {
  if (argc > 2 && strcmp(argv[2], "create") == 0) {
    pop = pmemobj_create(argv[1], "causes", PMEMOBJ_MIN_POOL, 0644);
    if (!pop) return 1;
    root = pmemobj_direct(pmemobj_root(pop, sizeof(struct root)));
    root->balance[0].money = 1000;
    pmemobj_persist(pop, root, sizeof *root);
    pmemobj_close(pop);
    return 0;
  }
  pop = argc > 1 ? pmemobj_open(argv[1], "causes") : NULL;
  if (!pop) {
    fprintf(stderr, "usage: tx POOL [create]: %s\n", pmemobj_errormsg());
    return 1;
  }
  root = pmemobj_direct(pmemobj_root(pop, sizeof(struct root)));
  int wrong = check();
  if (wrong || blackout_recovering()) return wrong;
  transfer(100);
  uint64_t money = 30;
  pmemobj_alloc(pop, &root->note, sizeof(struct note), 1, write_note, &money);
  pmemobj_close(pop);
  return 0;
}
