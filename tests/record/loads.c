// A load is recorded with the way to it: the same instruction, called from two places, and in itself.
//
// RUN: %cc -O1 -g -fno-optimize-sibling-calls %s -o %t && rm -f %t.img
// RUN: %blackout record --loads --pm %t.img -o %t.trace -- %t %t.img
// RUN: %blackout trace --stacks --kind load %t.trace | FileCheck %s
// CHECK: load 1:0x0 4 bytes
// CHECK-NEXT: look {{.*}}loads.c:[[#LOOK:]]:
// CHECK-NEXT: main {{.*}}loads.c:[[#MAIN:]]:
// CHECK-NEXT: load 1:0x4 4 bytes
// CHECK-NEXT: look {{.*}}loads.c:[[#LOOK]]:
// CHECK-NEXT: main {{.*}}loads.c:[[#MAIN]]:
// CHECK-NEXT: load 1:0x8 4 bytes
// CHECK-NEXT: look {{.*}}loads.c:[[#LOOK]]:
// CHECK-NEXT: further {{.*}}loads.c:[[#LOOK+1]]:
// CHECK-NEXT: main {{.*}}loads.c:[[#MAIN]]:
#include "Inputs/pool.h"

__attribute__((noinline)) static int look(const volatile int* p) { return *p; }
__attribute__((noinline)) static int further(const volatile int* p) { return look(p) + 1; }

int main(int argc, char** argv) {
  int* pool = mapPool(argv[1], 4096);
  return look(pool) + look(pool + 1) + further(pool + 2) - 1;
}
