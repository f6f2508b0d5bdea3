// harness.hpp: operations with arguments and results of any kind.
//
// RUN: %cxx -O1 -g -std=c++17 -Wall -Wextra -Werror %s -o %t && rm -f %t.img
// RUN: %blackout record --pm %t.img -o %t.trace -- %t %t.img && %blackout trace --kind marks %t.trace | FileCheck %s
// RUN: %t %t.native && rm %t.native
// RUN: %plain-cxx -std=c++17 -Wall -Wextra -Werror -I%include %s -o %t.without && %t.without %t.native && rm %t.native
//
// CHECK: op-begin "one" argument 5
// CHECK-NEXT: op-end result 6
// CHECK-NEXT: op-begin "none" argument 0
// CHECK-NEXT: op-end result 0
// CHECK-NEXT: op-values arguments "text"
// CHECK-NEXT: op-begin "text"
// CHECK-NEXT: op-values results{{$}}
// CHECK-NEXT: op-end
// CHECK-NEXT: op-values arguments "key" -1 2 1 [01 00 02 00]
// CHECK-NEXT: op-begin "put"
// CHECK-NEXT: op-values results 1 "old"
// CHECK-NEXT: op-end
// CHECK-NOT: op-end
#include <blackout/harness.hpp>
#include <string>
#include <vector>

#include "Inputs/pool.h"

enum class Color : unsigned char { Red = 1 };

int main(int, char** argv) {
  mapPool(argv[1], 4096);
  {
    blackout::Operation op("one", 5);
    op.result(6);
  }
  { blackout::Operation op("none"); }
  blackout::Operation("text", "text").end();
  std::string key = "key";
  std::vector<std::uint16_t> numbers = {1, 2};
  blackout::Operation op("put", key, -1, 2u, Color::Red, numbers);
  op.end(true, std::string("old"));
  return 0;
}
