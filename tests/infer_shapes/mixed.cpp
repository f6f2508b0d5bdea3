// A unit in C and one in C++, linked by name: the test stands in one, the read in the other, the flushes only in the C unit.
//
// RUN: %cc -g -O0 -c %S/Inputs/store.c -o %t.c.o
// RUN: %cxx -g -O2 -c %s -o %t.cpp.o
// RUN: %blackout infer --why %t.c.o %t.cpp.o | grep "^      " | FileCheck %s
// In an archive, and with a unit that has no bitcode: the rest still works.
// RUN: rm -f %t.a && llvm-ar rc %t.a %t.c.o
// RUN: %plain-cc -c %S/Inputs/store.c -o %t.plain.o
// RUN: %blackout infer --why %t.cpp.o %t.a %t.plain.o 2>&1 | grep -E "^      |note" | sort -r | FileCheck %s --check-prefixes=CHECK,NOTE
#include <cstdint>

#include "Inputs/store.h"

std::uint64_t get(const Store* s) { return store_is_valid(s) ? s->payload : 0; }

// NOTE: note: {{.*}}plain.o has no bitcode
// CHECK: store.c:5 tests Store.valid before mixed.cpp:14 reads Store.payload (flag)
// CHECK-NOT: reads
