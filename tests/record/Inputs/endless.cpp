// Stores for ever; says when it has begun.
#include "pool.h"

int main(int, char** argv) {
  auto* pool = static_cast<volatile uint64_t*>(mapPool(argv[1], 4096));
  for (uint64_t i = 0;; ++i) {
    pool[i % 512] = i;
    if (i == 1000) close(open(argv[2], O_CREAT | O_WRONLY, 0600));
    if (i % 1000 == 0) usleep(1000);
  }
}
