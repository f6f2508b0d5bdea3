// Loads libraries, uses and unloads them: each comes where the one before it was.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>

#include "Inputs/pool.h"

static uintptr_t use(const char* name, volatile uint64_t* p) {
  void* library = dlopen(name, RTLD_NOW);
  if (library == NULL) exit(5);
  void (*work)(volatile uint64_t*) = (void (*)(volatile uint64_t*))dlsym(library, "work");
  work(p);
  struct link_map* map;
  dlinfo(library, RTLD_DI_LINKMAP, &map);
  uintptr_t at = map->l_addr;
  if (dlclose(library) != 0 || dlopen(name, RTLD_NOW | RTLD_NOLOAD) != NULL) exit(6);
  return at;
}

int main(int argc, char** argv) {
  volatile uint64_t* p = (volatile uint64_t*)mapPool(argv[1], 4096);
  uintptr_t first = use(argv[2], p);
  uintptr_t second = use(argv[3], p);
  uintptr_t third = use(argv[2], p);
  return argc == 4 && first == second && second == third ? 0 : 7;
}
