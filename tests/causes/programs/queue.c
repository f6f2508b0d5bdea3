/* A queue with a lock that lies in the pool, in C. A node is durable before the last one leads to it, and that is
 * durable before the tail moves; a node is wiped when the head has left it behind, durably. A restart releases the
 * lock, moves the tail to the last node and uses the queue: it exits with 3 to 6 if that goes wrong. */
#include "pm.h"

#define MAGIC 0x65756575u
#define POOL_SIZE 8192u
#define WIPED 0xdeadu

typedef struct Node {
  _Alignas(PM_LINE) struct Node* volatile next;
  volatile uint64_t value;
} Node;

typedef struct {
  volatile uint64_t magic; /* written last */
  _Alignas(PM_LINE) volatile uint64_t locked;
  _Alignas(PM_LINE) Node* volatile head; /* the node before the first */
  _Alignas(PM_LINE) Node* volatile tail;
  _Alignas(PM_LINE) char* top;
} Queue;

static Queue* queue;

#define PERSIST(what) pm_persist((void*)&(what), sizeof(what))

static Node* new_node(uint64_t value) {
  Node* node = pm_bump(&queue->top, (char*)queue + POOL_SIZE, sizeof(Node));
  node->value = value;
  PERSIST(*node);
  return node;
}

/* Exits with `otherwise` if the lock is taken: nobody else is there who could release it. */
#define LOCK(otherwise)                 \
  do {                                  \
    if (queue->locked) exit(otherwise); \
    queue->locked = 1;                  \
    PERSIST(queue->locked);             \
  } while (0)

#define UNLOCK()            \
  do {                      \
    queue->locked = 0;      \
    PERSIST(queue->locked); \
  } while (0)

static void enqueue(uint64_t value) {
  LOCK(3); /* (update 1) */
  Node* node = new_node(value);
  Node* last = queue->tail;
  last->next = node; /* (lost 2) */
#if BUG == 2
  pm_fence();
#else
  PERSIST(last->next);
#endif
  queue->tail = node; /* (relies 2) */
  PERSIST(queue->tail);
  UNLOCK(); /* (update 1) */
}

static uint64_t dequeue(void) {
  LOCK(4); /* (update 1) */
  Node* node = queue->head->next;
  const uint64_t value = node->value;
  if (value == WIPED) exit(5);
#if BUG == 3
  node->value = WIPED; /* (relies 3) */
  PERSIST(*node);
  queue->head = node; /* (lost 3) */
  PERSIST(queue->head);
#else
  queue->head = node;
  PERSIST(queue->head);
  node->value = WIPED;
  PERSIST(*node);
#endif
  UNLOCK(); /* (update 1) */
  return value;
}

static int restart(void) {
#if BUG != 1
  if (queue->locked) UNLOCK();
#endif
  Node* last = queue->head;
  while (last->next) last = last->next;
  const Node* tail = queue->tail;
  if (tail != last && tail->next != last) return 6; /* the tail may be one node behind */
  if (tail != last) {
    queue->tail = last;
    PERSIST(queue->tail);
  }
  if (queue->head->next)
    dequeue();
  else
    enqueue(9);
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: queue POOL");
  queue = pm_map(argv[1], POOL_SIZE);
  if (queue->magic == MAGIC) return restart();
  queue->top = (char*)(queue + 1);
  PERSIST(queue->top);
  Node* node = new_node(WIPED);
  queue->head = node;
  PERSIST(queue->head);
  queue->tail = node;
  PERSIST(queue->tail);
  queue->magic = MAGIC;
  PERSIST(queue->magic);
  enqueue(1);
  enqueue(2);
  dequeue();
  enqueue(3);
  dequeue();
  return 0;
}
