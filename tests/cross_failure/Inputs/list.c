/* XFDetector, figure 1: a list whose head is in the undo log and whose length is not. FIX: recovery counts again.
 * PRINT: the restart prints the list instead of going on to work with it. */
#include "pool.h"

struct node {
  uint64_t value;
  struct node* next;
} LINE;
struct pool {
  uint64_t valid;
  struct node* old_head;
  struct node* head LINE;
  uint64_t length LINE;
  struct node nodes[4];
};

static void append(struct node* n, uint64_t value) {
  n->value = value;
  n->next = l->head;
  persist(n);
  l->old_head = l->head;
  persist(&l->old_head);
  SET(l->valid, 1);
  persist(&l->valid);
  l->head = n;
  l->length++;  // LENGTH
  flush(&l->head);
  flush(&l->length);
  fence();
  SET(l->valid, 0);
  persist(&l->valid);
}

static void pop(void) {
  if (l->length) {
    l->head = l->head->next;
    l->length--;
  }
}

static void operations(void) {
  for (uint64_t i = 0; i < 2; ++i) OPERATION("append", i, append(&l->nodes[i], i + 1));
}

static void restart(void) {
  if (l->valid) {
    l->head = l->old_head;
    persist(&l->head);
    SET(l->valid, 0);
    persist(&l->valid);
  }
#ifdef FIX
  uint64_t count = 0;
  for (struct node* n = l->head; n; n = n->next) ++count;
  l->length = count;
  persist(&l->length);
#endif
#ifdef PRINT
  printf("%lu:", (unsigned long)l->length);
  for (struct node* n = l->head; n; n = n->next) printf(" %lu", (unsigned long)n->value);
  printf("\n");
#else
  pop();
#endif
}
MAIN
