// There is no more room for the trace in the middle of the recording, whatever the event is that finds none: a store, a
// compare-and-swap of 16 bytes, a mark with its name or its values. The program runs on to its end, and it is said.
//
// RUN: %cxx -O2 -mcx16 %s -o %t
// RUN: for way in store wide mark values; do rm -f %t.img; \
// RUN:   %blackout record --pm %t.img -o %t.trace -- %t %t.img $way > %t.out 2>&1; test $? -eq 3 || { cat %t.out; exit 1; }; \
// RUN:   FileCheck %s < %t.out || exit 1; done
// CHECK: ran to its end
// CHECK: inconclusive: There was no room left for the trace
#include <blackout/blackout.h>
#include <sys/resource.h>

#include <cstring>

#include "Inputs/pool.h"

int main(int, char** argv) {
  const rlimit limit{6 << 20, 6 << 20};  // the trace grows by 4 MiB
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
  auto* pool = static_cast<char*>(mapPool(argv[1], 8192));
  auto* two = reinterpret_cast<unsigned __int128*>(pool);
  bool wide = strcmp(argv[2], "wide") == 0, store = strcmp(argv[2], "store") == 0, mark = strcmp(argv[2], "mark") == 0;
  blackout_value values[] = {blackout_uint(1), blackout_text("some text")};
  for (int n = 0; n < 200000; ++n) {
    if (wide)
      __sync_bool_compare_and_swap(two + n % 32, two[n % 32], static_cast<unsigned __int128>(n) << 64 | unsigned(n));
    else if (store)
      *reinterpret_cast<volatile int*>(pool + 8 * (n % 64)) = n;
    else if (mark)
      blackout_op_begin("some operation", 1), blackout_op_end(2);
    else
      blackout_op_begin_values("one with values", values, 2), blackout_op_end_values(values, 2);
  }
  printf("ran to its end\n");
}
