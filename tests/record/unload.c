// A compiled library that was unloaded is forgotten: where PM is mapped later, nothing is told to what is no longer
// there. Its stores are recorded, and those that come behind it.
//
// RUN: %cc -O1 -g -fPIC -shared -DLIBRARY %s -o %t.so && %cc -O1 -g %s -o %t && rm -f %t.img
// RUN: %blackout record --pm %t.img -o %t.trace -- %t %t.img %t.so
// RUN: %blackout trace --kind stores %t.trace | FileCheck %s
// CHECK: store 1:0x0 8 bytes = 0x1 {{.*}} in work
// CHECK-NEXT: store 1:0x8 8 bytes = 0x2 {{.*}} in main
// CHECK-NOT: {{ t1 }}
#define _GNU_SOURCE
#include <dlfcn.h>

#include "Inputs/pool.h"

#ifdef LIBRARY
void work(volatile uint64_t* p) { p[0] = 1; }
#else
int main(int argc, char** argv) {
  volatile uint64_t* p = (volatile uint64_t*)mapPool(argv[1], 4096);
  void* library = dlopen(argv[2], RTLD_NOW);
  if (library == NULL) return 5;
  void (*work)(volatile uint64_t*) = (void (*)(volatile uint64_t*))dlsym(library, "work");
  work(p);
  if (dlclose(library) != 0 || dlopen(argv[2], RTLD_NOW | RTLD_NOLOAD) != NULL) return 6;
  // At an address of the program's own, which all of its code is told.
  void* chosen = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int fd = open(argv[1], O_RDWR);
  volatile uint64_t* q =
      (volatile uint64_t*)mmap(chosen, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
  if ((void*)q != chosen) return 7;
  q[1] = 2;
  return 0;
}
#endif
