/*
 * A client of PMDK's example maps, like mapcli, but
 *  - with a value object for every key, where the map can do that: mapcli inserts null values, and the crit-bit tree
 * takes a leaf's value for a node, so it faults at the second key;
 *  - with its operations marked: a restart must answer as before the command or as behind it, also if a map does
 * without transactions. Commands come from standard input: "i KEY VALUE", "r KEY", "c KEY", "b" (rebuild) and "p".
 */
#include <inttypes.h>
#include <libpmemobj.h>
#include <stdio.h>
#include <string.h>

#include "hashmap.h"
#include "map.h"
#include "map_btree.h"
#include "map_ctree.h"
#include "map_hashmap_atomic.h"
#include "map_rbtree.h"

POBJ_LAYOUT_BEGIN(client);
POBJ_LAYOUT_ROOT(client, struct root);
POBJ_LAYOUT_TOID(client, uint64_t);
POBJ_LAYOUT_END(client);

struct root {
  TOID(struct map) map;
};

/* From blackout.h. Built with plain gcc they are there only under Blackout. */
void blackout_op_begin(const char* name, uint64_t argument) __attribute__((weak));
void blackout_op_end(uint64_t result) __attribute__((weak));

static void set_value(PMEMobjpool* pop, void* object, void* value) {
  (void)pop;
  *(uint64_t*)object = *(uint64_t*)value; /* the transaction that allocates it makes it durable */
}

static void insert(struct map_ctx* context, TOID(struct map) map, uint64_t key, uint64_t value) {
  if (context->ops->insert_new) {
    map_insert_new(context, map, key, sizeof(value), TOID_TYPE_NUM(uint64_t), set_value, &value);
  } else {
    map_insert(context, map, key, OID_NULL);
  }
}

static void discard(struct map_ctx* context, TOID(struct map) map, uint64_t key) {
  if (!map_lookup(context, map, key)) return;
  if (context->ops->remove_free) {
    map_remove_free(context, map, key);
  } else {
    map_remove(context, map, key);
  }
}

static void ask(struct map_ctx* context, TOID(struct map) map, uint64_t key) {
  const uint64_t* value = pmemobj_direct(map_get(context, map, key));
  if (value) {
    printf("%" PRIu64 "=%" PRIu64 "\n", key, *value);
  } else {
    printf("%" PRIu64 " is %s\n", key, map_lookup(context, map, key) ? "there" : "not there");
  }
}

static int print_pair(uint64_t key, PMEMoid value, void* unused) {
  (void)unused;
  const uint64_t* object = pmemobj_direct(value);
  printf("%" PRIu64 "=%" PRIu64 " ", key, object ? *object : 0);
  return 0;
}

static void print(struct map_ctx* context, TOID(struct map) map) {
  if (context->ops->count) printf("count: %zu\n", map_count(context, map));
  map_foreach(context, map, print_pair, NULL);
  printf("\n");
}

static void obey(struct map_ctx* context, TOID(struct map) map, const char* line) {
  uint64_t key = 0;
  uint64_t value = 0;
  sscanf(line + 1, "%" SCNu64 " %" SCNu64, &key, &value);
  switch (line[0]) {
    case 'i':
      insert(context, map, key, value);
      break;
    case 'r':
      discard(context, map, key);
      break;
    case 'b':
      map_cmd(context, map, HASHMAP_CMD_REBUILD, 0);
      break;
    case 'c':
      ask(context, map, key);
      break;
    case 'p':
      print(context, map);
      break;
  }
}

static const struct map_ops* map_named(const char* name) {
  if (strcmp(name, "ctree") == 0) return MAP_CTREE;
  if (strcmp(name, "btree") == 0) return MAP_BTREE;
  if (strcmp(name, "rbtree") == 0) return MAP_RBTREE;
  if (strcmp(name, "hashmap_atomic") == 0) return MAP_HASHMAP_ATOMIC;
  return NULL;
}

int main(int argc, char* argv[]) {
  const struct map_ops* ops = argc == 3 ? map_named(argv[1]) : NULL;
  if (!ops) {
    fprintf(stderr, "usage: %s ctree|btree|rbtree|hashmap_atomic POOL\n", argv[0]);
    return 2;
  }
  PMEMobjpool* pop = pmemobj_open(argv[2], POBJ_LAYOUT_NAME(client));
  if (!pop) {
    fprintf(stderr, "%s\n", pmemobj_errormsg());
    return 1;
  }
  struct map_ctx* context = map_ctx_init(ops, pop);
  TOID(struct root) root = POBJ_ROOT(pop, struct root);
  struct hashmap_args seed = {1};
  if (TOID_IS_NULL(D_RO(root)->map)) map_create(context, &D_RW(root)->map, &seed);
  TOID(struct map) map = D_RO(root)->map;
  map_init(context, map);
  char line[100];
  while (fgets(line, sizeof(line), stdin)) {
    if (blackout_op_begin) blackout_op_begin("command", (uint64_t)line[0]);
    obey(context, map, line);
    if (blackout_op_end) blackout_op_end(0);
  }
  map_ctx_free(context);
  pmemobj_close(pop);
  return 0;
}
