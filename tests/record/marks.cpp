// blackout.h: operations, a region of interest, registered memory, and the same addresses in every run.
//
// RUN: %cxx -O2 %s -o %t
// RUN: %blackout record --pm %t.img -o %t.trace -- %t %t.img > %t.first && %blackout trace %t.trace > %t.events
// RUN: %blackout record --pm %t.img -o %t.trace -- %t %t.img > %t.second && diff %t.first %t.second
// RUN: FileCheck %s < %t.events
// RUN: test ! -e %t.img
// RUN: %t %t.native && rm %t.native
// CHECK: op-begin {{.*}}insert
// CHECK: store {{.*}} = 0x7
// CHECK: op-end
// CHECK: roi-begin
// CHECK: file-new {{.*}}/registered/{{.*}}heap
// CHECK: store {{.*}} = 0x2a
// CHECK: discard
// CHECK: roi-end
#include <blackout/blackout.h>

#include "Inputs/pool.h"

static volatile uint64_t table[1024];

int main(int, char** argv) {
  auto* pool = static_cast<volatile uint64_t*>(mapPool(argv[1], 1 << 20));
  blackout_op_begin("insert", 7);
  pool[3] = 7;
  blackout_op_end(0);
  blackout_roi_begin();
  for (int i = 0; i < 1024; ++i) table[i] = 1;
  blackout_pm_register((void*)table, sizeof table, "heap");
  table[5] = 42;
  blackout_discard((void*)&table[5], 8);
  blackout_roi_end();
  void* heap = malloc(100);
  int onStack;
  if (blackout_active()) printf("%p %p %p %p\n", (void*)pool, (void*)table, heap, (void*)&onStack);
  for (int i = 0; i < 1024; ++i)
    if (table[i] != (i == 5 ? 42 : 1)) return 1;
  return 0;
}
