// A restart that says what it reads from its standard input, and fails if its one store is lost.
#include <blackout/blackout.h>

#include "Inputs/pool.h"

int main(int, char** argv) {
  auto* words = static_cast<volatile uint64_t*>(mapPool(argv[1], 4096));
  char text[32] = "";
  if (blackout_recovering() && scanf("%31s", text) == 1) printf("read %s\n", text);
  if (words[8] != 0 && words[0] == 0) return 4;
  words[0] = 1;
  words[8] = 1;
  return 0;
}
