// A request may register memory: what is known of a pointer before it is not believed behind it, though it is no call.
//
// RUN: for o in 0 1 2; do %cc -O$o -g %s -o %t && rm -f %t.img && %blackout record --pm %t.img -o %t.trace -- %t %t.img && %blackout trace --kind store %t.trace | FileCheck %s || exit 1; done
// CHECK-NOT: = 0x5
// CHECK: = 0x9
#include <valgrind/valgrind.h>

#include "Inputs/pool.h"

int main(int argc, char** argv) {
  volatile uint64_t* memory =
      (volatile uint64_t*)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memory[0] = 5;
  VALGRIND_DO_CLIENT_REQUEST_STMT(0x50430000, memory, 4096, 0, 0, 0);
  memory[1] = 9;
  return mapPool(argv[1], 4096) == NULL || argc < 2;
}
