// Pools inside larger objects: one mapped into a reservation of the program's and one registered in the middle of
// a struct, both reached through pointers that begin outside the pool.
//
// RUN: %cxx -O2 %s -o %t && rm -f %t.img
// RUN: %blackout record --pm %t.img -o %t.trace -- %t %t.img
// RUN: %blackout trace %t.trace | FileCheck %s
// CHECK: store {{.*}} = 0x11
// CHECK: store {{.*}} = 0x22
#include <blackout/blackout.h>

#include "Inputs/pool.h"

struct Object {
  uint64_t volatileHead[512];
  volatile uint64_t persistent[512];
};

__attribute__((noinline)) static void storeFar(char* base, size_t offset) { base[offset] = 0x11; }
__attribute__((noinline)) static void storeInside(Object* o, size_t i) { o->persistent[i] = 0x22; }

int main(int, char** argv) {
  int fd = openPool(argv[1], 4096);
  size_t size = size_t{1} << 30;
  auto* base = static_cast<char*>(mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  void* pool = mmap(base + size / 2, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
  if (pool != base + size / 2) return 1;
  storeFar(base, size / 2 + 8);
  auto* object = static_cast<Object*>(aligned_alloc(4096, sizeof(Object)));
  blackout_pm_register(const_cast<uint64_t*>(object->persistent), sizeof object->persistent, "inside");
  storeInside(object, 5);
  return object->persistent[5] == 0x22 ? 0 : 2;
}
