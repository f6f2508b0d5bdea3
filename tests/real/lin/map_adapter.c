/* One of PMDK's maps behind a few functions. Which: MAP, a name of its map_ops table (MAP_BTREE ...), by -DMAP. A value
 * is an object of its own, where the map can allocate one with the key; otherwise it is the object id itself, which
 * such maps do not follow. */
#include "map_adapter.h"

#include <libpmemobj.h>
#include <stddef.h>

#include "ex_common.h"
#include "map.h"
#include MAP_HEADER

POBJ_LAYOUT_BEGIN(lin);
POBJ_LAYOUT_ROOT(lin, struct root);
POBJ_LAYOUT_TOID(lin, uint64_t);
POBJ_LAYOUT_END(lin);

struct root {
  TOID(struct map) map;
};

static struct map_ctx* context;
static TOID(struct root) top;

int adapter_create(const char* path) {
  PMEMobjpool* pool = pmemobj_create(path, POBJ_LAYOUT_NAME(lin), PMEMOBJ_MIN_POOL, 0600);
  if (pool == NULL) return 0;
  context = map_ctx_init(MAP, pool);
  top = POBJ_ROOT(pool, struct root);
  int made = context != NULL && map_create(context, &D_RW(top)->map, NULL) == 0;
  pmemobj_close(pool);
  return made;
}

int adapter_open(const char* path) {
  PMEMobjpool* pool = pmemobj_open(path, POBJ_LAYOUT_NAME(lin));
  if (pool == NULL) return 0;
  context = map_ctx_init(MAP, pool);
  top = POBJ_ROOT(pool, struct root);
  return context != NULL && map_init(context, D_RW(top)->map) == 0;
}

static void set_value(PMEMobjpool* pop, void* object, void* value) {
  (void)pop;
  *(uint64_t*)object = *(uint64_t*)value; /* the transaction that allocates it makes it durable */
}

int adapter_insert(uint64_t key, uint64_t value) {
  if (context->ops->insert_new)
    return map_insert_new(context, D_RW(top)->map, key, sizeof value, TOID_TYPE_NUM(uint64_t), set_value, &value) == 0;
  PMEMoid id = {1, value};
  return map_insert(context, D_RW(top)->map, key, id) == 0;
}

uint64_t adapter_get(uint64_t key) {
  PMEMoid id = map_get(context, D_RW(top)->map, key);
  return context->ops->insert_new ? *(uint64_t*)pmemobj_direct(id) : id.off;
}

int adapter_has(uint64_t key) { return map_lookup(context, D_RW(top)->map, key) != 0; }

void adapter_remove(uint64_t key) {
  if (context->ops->insert_new && context->ops->remove_free)
    map_remove_free(context, D_RW(top)->map, key);
  else
    map_remove(context, D_RW(top)->map, key);
}
