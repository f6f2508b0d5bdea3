/*
 * Reads a pool of PMDK's kv_server without a network: what is restarted after a crash of the server. It prints the
 * value of each key that it reads from standard input. Exit code 1: the pool cannot be opened.
 */
#include <inttypes.h>
#include <libpmemobj.h>
#include <stdio.h>
#include <string.h>

#include "map.h"
#include "map_btree.h"
#include "map_ctree.h"
#include "map_rbtree.h"
#include "map_skiplist.h"

/* The layout of kv_server.c. */
POBJ_LAYOUT_BEGIN(kv_server);
POBJ_LAYOUT_ROOT(kv_server, struct root);
POBJ_LAYOUT_TOID(kv_server, struct map_value);
POBJ_LAYOUT_END(kv_server);

struct map_value {
  uint64_t len;
  char buf[];
};

struct root {
  TOID(struct map) map;
};

static const struct map_ops* map_named(const char* name) {
  if (strcmp(name, "ctree") == 0) return MAP_CTREE;
  if (strcmp(name, "btree") == 0) return MAP_BTREE;
  if (strcmp(name, "rbtree") == 0) return MAP_RBTREE;
  if (strcmp(name, "skiplist") == 0) return MAP_SKIPLIST;
  return NULL;
}

/* djb2, as in kv_server.c. */
static uint32_t hash_of(const char* key) {
  uint32_t hash = 5381;
  for (; *key; ++key) hash = hash * 33 + (uint32_t)*key;
  return hash;
}

int main(int argc, char* argv[]) {
  const struct map_ops* ops = argc == 3 ? map_named(argv[1]) : NULL;
  if (!ops) {
    fprintf(stderr, "usage: %s ctree|btree|rbtree|skiplist POOL\n", argv[0]);
    return 2;
  }
  PMEMobjpool* pop = pmemobj_open(argv[2], POBJ_LAYOUT_NAME(kv_server));
  if (!pop) {
    fprintf(stderr, "%s\n", pmemobj_errormsg());
    return 1;
  }
  TOID(struct root) root = POBJ_ROOT(pop, struct root);
  TOID(struct map) map = D_RO(root)->map;
  struct map_ctx* context = map_ctx_init(ops, pop);
  char key[100];
  while (!TOID_IS_NULL(map) && scanf("%99s", key) == 1) {
    const struct map_value* value = pmemobj_direct(map_get(context, map, hash_of(key)));
    if (value) {
      printf("%s: %s", key, value->buf);
    } else {
      printf("%s is not there\n", key);
    }
  }
  map_ctx_free(context);
  pmemobj_close(pop);
  return 0;
}
