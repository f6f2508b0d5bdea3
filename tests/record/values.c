// blackout.h: operations with arguments and results of any kind, in a build with Blackout and in a plain one.
//
// RUN: %cc -O1 -g -Wall -Wextra -Werror %s -o %t && rm -f %t.img
// RUN: %blackout record --pm %t.img -o %t.trace -- %t %t.img && %blackout trace --kind marks %t.trace > %t.marks
// RUN: FileCheck %s < %t.marks
// RUN: %blackout trace --count-by operation --kind stores %t.trace | FileCheck %s --check-prefix=COUNT
// Outside of a recording nothing happens, whatever is passed.
// RUN: %t %t.native && %t %t.native many && %t %t.native large && %t %t.native kind && rm %t.native
//
// A plain compiler's program finds the functions if it runs under Blackout. What it passes may lie in PM, which it may
// not touch unseen.
// RUN: gcc -O2 -g -D__BLACKOUT__=1 -DPLAIN -I%include %s -o %t.plain
// RUN: %blackout record --pm %t.img -o %t.trace -- %t.plain %t.img && %blackout trace --kind marks %t.trace > %t.marks
// RUN: FileCheck %s < %t.marks
// RUN: %t.plain %t.native && rm %t.native
//
// CHECK: op-begin "old" argument 7
// CHECK-NEXT: op-end result 8
// CHECK-NEXT: op-values arguments "key" -3 18446744073709551615 [00 ff 41] "" []
// CHECK-NEXT: op-begin "put"{{$}}
// CHECK-NEXT: op-values arguments{{$}}
// CHECK-NEXT: op-begin "inner"{{$}}
// CHECK-NEXT: op-values results [07 00 00 00 00 00 00 00] "two\nlines"
// CHECK-NEXT: op-end{{$}}
// CHECK-NEXT: op-end result 9
// CHECK-NEXT: op-values arguments [{{(61 ){63}61}}]... (65528 bytes)
// CHECK-NEXT: op-begin "largest"{{$}}
// CHECK-NEXT: op-values results 0{{( 0){63}$}}
// CHECK-NEXT: op-end{{$}}
// COUNT: 1 {{ *}}inner
//
// Too much ends the program with one sentence and exit code 2.
// RUN: %blackout record --pm %t.img -o %t.trace -- %t %t.img many > %t.out 2>&1; FileCheck %s --check-prefix=MANY < %t.out
// MANY: blackout: blackout_op_begin_values: 65 values; pass at most 64
// MANY: exit{{.*}}2
// RUN: %blackout record --pm %t.img -o %t.trace -- %t %t.img large > %t.out 2>&1; FileCheck %s --check-prefix=LARGE < %t.out
// RUN: %blackout record --pm %t.img -o %t.trace -- %t %t.img huge > %t.out 2>&1; FileCheck %s --check-prefix=LARGE < %t.out
// LARGE: blackout: blackout_op_end_values: more than 64 KiB of values; pass a part of them, or a digest
// LARGE: exit{{.*}}2
// RUN: %blackout record --pm %t.img -o %t.trace -- %t %t.img kind > %t.out 2>&1; FileCheck %s --check-prefix=KIND < %t.out
// KIND: blackout: blackout_op_end_values: there is no kind of value 4; make values with blackout_uint
// KIND: exit{{.*}}2
#include <blackout/blackout.h>

#include "Inputs/pool.h"

#ifdef PLAIN
#pragma weak blackout_active
#pragma weak blackout_op_begin
#pragma weak blackout_op_end
#pragma weak blackout_op_begin_values
#pragma weak blackout_op_end_values
#define PRESENT (blackout_active != NULL)
#else
#define PRESENT 1
#endif

static char large[1 << 16];

int main(int argc, char** argv) {
  volatile uint64_t* pool = (volatile uint64_t*)mapPool(argv[1], 4096);
  const char* mode = argc > 2 ? argv[2] : "";
  blackout_value many[65];
  memset(many, 0, sizeof many);
  memset(large, 'a', sizeof large);
  if (!PRESENT) return 0;
  if (strcmp(mode, "many") == 0) blackout_op_begin_values("many", many, 65);
  if (strcmp(mode, "large") == 0) {
    blackout_value v = blackout_bytes(large, sizeof large - 7);
    blackout_op_end_values(&v, 1);
  }
  if (strcmp(mode, "huge") == 0) {
    many[0] = many[1] = blackout_bytes(large, SIZE_MAX);
    blackout_op_end_values(many, 2);
  }
  if (strcmp(mode, "kind") == 0) {
    many[0].kind = 4;
    blackout_op_end_values(many, 1);
  }
  if (mode[0] != '\0') return 0;

  blackout_op_begin("old", 7);
  blackout_op_end(8);
  blackout_value put[] = {blackout_text("key"),       blackout_int(-3),   blackout_uint(UINT64_MAX),
                          blackout_bytes("\0\xff" "A", 3), blackout_text(""), blackout_bytes(NULL, 0)};
  blackout_op_begin_values("put", put, 6);
  blackout_op_begin_values("inner", NULL, 0);
  pool[0] = 7;
  blackout_value results[] = {blackout_bytes((const void*)pool, 8), blackout_text("two\nlines")};
  blackout_op_end_values(results, 2);
  blackout_op_end(9);
  blackout_value v = blackout_bytes(large, sizeof large - 8);
  blackout_op_begin_values("largest", &v, 1);
  blackout_op_end_values(many, 64);
  return 0;
}
