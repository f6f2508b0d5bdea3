/* The pool holds a pointer to ordinary memory, which is gone after a restart. */
#include "pool.h"

struct pool {
  LINE const char* name;
  LINE uint64_t name_at; /* of the fixed version: where the name is in the pool */
  char text[16];
};

int main(int argc, char** argv) {
  volatile struct pool* pool = open_pool(argv[argc - 1]);
#ifdef FIXED
  if (pool->name_at != 0) return ((char*)pool)[pool->name_at] == 'n' ? 0 : 1; /* a restart */
  memcpy((char*)pool->text, "name", 5);
  persist(pool->text);
  pool->name_at = offsetof(struct pool, text);
  persist(&pool->name_at);
#else
  if (pool->name != NULL) return pool->name[0] == 'n' ? 0 : 1; /* a restart after a crash */
  pool->name = strdup("name");
  persist(&pool->name);
  pool->name = NULL; /* an orderly end */
  persist(&pool->name);
#endif
  return 0;
}
