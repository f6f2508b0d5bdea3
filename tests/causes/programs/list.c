/* A linked list of people, in C. A node has two lines, one with its name and one with a note, both pointers to text in
 * the pool; it is durable before the head leads to it. A restart that follows a pointer that is not there crashes; one
 * that finds the list cut off exits with 3. */
#include <string.h>

#include "pm.h"

#define MAGIC 0x7473696cu
#define POOL_SIZE 8192u

typedef struct Node {
  _Alignas(PM_LINE) struct Node* volatile next;
  volatile uint64_t age; /* 1 in the first node that was pushed, and one more in each later one */
  const char* volatile name;
  _Alignas(PM_LINE) const char* volatile note;
} Node;

typedef struct {
  volatile uint64_t magic; /* written last */
  _Alignas(PM_LINE) Node* volatile head;
  _Alignas(PM_LINE) char* top;
} Pool;

static Pool* pool;

static void* allocate(size_t size) { return pm_bump(&pool->top, (char*)pool + POOL_SIZE, size); }

static const char* keep(const char* text) {
  char* kept = allocate(PM_LINE);
  memcpy(kept, text, strlen(text) + 1);
  pm_persist(kept, PM_LINE);
  return kept;
}

static void push(const char* name, const char* note, uint64_t age) {
  Node* node = allocate(sizeof *node);
  const char* kept_name = keep(name);
  const char* kept_note = keep(note);
  node->age = age;
#if BUG != 2
  node->next = pool->head;
#endif
  node->name = kept_name; /* (lost 1) (lost-name 3) */
#if BUG == 1 || BUG == 3
  pm_fence();
#else
  pm_persist((void*)&node->name, sizeof node->name);
#endif
  node->note = kept_note; /* (lost-note 3) */
#if BUG == 3
  pm_fence();
#else
  pm_persist((void*)&node->note, sizeof node->note);
#endif
#if BUG == 2
  Node* old = pool->head;
  pool->head = node; /* (relies 2) */
  node->next = old;  /* (lost 2) */
  pm_persist((void*)&node->next, sizeof node->next);
#else
  pool->head = node; /* (relies 1, 3) */
#endif
  pm_persist((void*)&pool->head, sizeof pool->head);
}

__attribute__((noinline)) static unsigned length_of_names(void) {
  unsigned length = 0;
  for (const Node* node = pool->head; node; node = node->next)
    for (const char* c = node->name; *c; ++c) ++length;
  return length;
}

__attribute__((noinline)) static unsigned length_of_notes(void) {
  unsigned length = 0;
  for (const Node* node = pool->head; node; node = node->next)
    for (const char* c = node->note; *c; ++c) ++length;
  return length;
}

static int check(void) {
  volatile unsigned length = length_of_names();
  length += length_of_notes();
  for (const Node* node = pool->head; node; node = node->next)
    if (!node->next && node->age != 1) return 3;
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 2) pm_die("usage: list POOL");
  pool = pm_map(argv[1], POOL_SIZE);
  if (pool->magic == MAGIC) return check();
  pool->top = (char*)(pool + 1);
  pm_persist(&pool->top, sizeof pool->top);
  pool->magic = MAGIC;
  pm_persist((void*)&pool->magic, sizeof pool->magic);
  push("ada", "engines", 1);
  push("grace", "compilers", 2);
  push("barbara", "abstraction", 3);
  return 0;
}
