// A store that is never flushed and that nobody reads.
#include "Inputs/pool.h"

int main(int, char** argv) { static_cast<volatile uint64_t*>(mapPool(argv[1], 4096))[3] = 1; }
