/* PMDK's queue example (the file QUEUE) behind a few functions: its own main is left out by another name. An entry's
 * data is the number as eight bytes. */
#include <errno.h>
#include <libpmemobj.h>
#include <stdio.h>

#define main example_main
#define printf(...) ((void)0) /* it prints entries as text */
#include QUEUE
#undef printf
#undef main

#include "queue_adapter.h"

static PMEMobjpool* pool;
static struct queue* queue;

int adapter_create(const char* path) {
  PMEMobjpool* made = pmemobj_create(path, POBJ_LAYOUT_NAME(queue), PMEMOBJ_MIN_POOL, 0600);
  if (made == NULL) return 0;
  TOID(struct root) root = POBJ_ROOT(made, struct root);
  int failed = queue_new(made, &D_RW(root)->queue, 16);
  pmemobj_close(made);
  return !failed;
}

int adapter_open(const char* path) {
  pool = pmemobj_open(path, POBJ_LAYOUT_NAME(queue));
  if (pool == NULL) return 0;
  TOID(struct root) root = POBJ_ROOT(pool, struct root);
  queue = D_RW(D_RW(root)->queue);
  return queue != NULL;
}

int adapter_enqueue(uint64_t value) { return queue_enqueue(pool, queue, (const char*)&value, sizeof value) == 0; }

int adapter_dequeue(uint64_t* value) {
  if (queue_nentries(queue) == 0) return 0;
  memcpy(value, D_RO(queue->entries[queue->front % queue->capacity])->data, sizeof *value);
  return queue_dequeue(pool, queue) == 0;
}
