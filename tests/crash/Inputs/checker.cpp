// A checker with pmreorder's contract, for node.cpp: MODE POOL.
#include "Inputs/pool.h"

int main(int argc, char** argv) {
  if (argc != 3) return 9;
  auto* words = static_cast<volatile uint64_t*>(mapPool(argv[2], 4096));
  return strcmp(argv[1], "strict") == 0 && words[8] != words[16] ? 1 : 0;
}
