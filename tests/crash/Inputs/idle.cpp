// A store that is never flushed, and whose value matters to nobody.
#include "Inputs/pool.h"

int main(int, char** argv) {
  auto* pool = static_cast<volatile uint64_t*>(mapPool(argv[1], 4096));
  if (pool[3] > 1) return 1;
  pool[3] = 1;
}
