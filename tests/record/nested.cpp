// A fault in the middle of an event: memcpy() into PM that the program protects itself, whose handler marks operations
// and stores. Its marks are left out, as they would stand inside of the copy; its store is counted as lost, and the
// result is inconclusive instead of wrong.
//
// RUN: %cxx -O2 %s -o %t && rm -f %t.img
// RUN: %blackout record --trap never --pm %t.img -o %t.trace -- %t %t.img > %t.out 2>&1; test $? -eq 3
// RUN: FileCheck %s --check-prefix=SAID < %t.out
// SAID: faults 2
// SAID: signal handler
// RUN: %blackout trace --kind stores,marks %t.trace | FileCheck %s --implicit-check-not=op-begin --implicit-check-not=op-end
// CHECK: op-begin {{.*}}outer
// CHECK-NEXT: store {{.*}}:0x1000
// CHECK: op-end
// CHECK-NEXT: op-begin {{.*}}outer
// CHECK-NEXT: store {{.*}}:0x1100
// CHECK: op-end
#include <blackout/blackout.h>
#include <signal.h>
#include <sys/mman.h>

#include <cstring>

#include "Inputs/pool.h"

static volatile uint64_t* pool;
static volatile int faults;

static void unprotect(int) {
  ++faults;
  blackout_op_begin("inside", 1);
  pool[8] = 5;
  blackout_value values[] = {blackout_uint(1), blackout_uint(2)};
  blackout_op_end_values(values, 2);
  mprotect((char*)pool + 4096, 4096, PROT_READ | PROT_WRITE);
}

int main(int, char** argv) {
  pool = static_cast<volatile uint64_t*>(mapPool(argv[1], 8192));
  signal(SIGSEGV, unprotect);
  char bytes[200];
  memset(bytes, 7, sizeof bytes);
  volatile size_t size = 200;  // a call, no stores
  for (int n = 0; n < 2; ++n) {
    mprotect((char*)pool + 4096, 4096, PROT_READ);
    blackout_op_begin("outer", 0);
    memcpy((char*)pool + 4096 + 256 * n, bytes, size);
    blackout_op_end(0);
  }
  printf("faults %d\n", faults);
}
