/* main POOL N: appends 1..N and prints how many numbers there are now, and their sum. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "pool.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  struct pool* pool = pool_open(argv[1]);
  if (!pool) return 1;
  const uint64_t n = strtoull(argv[2], NULL, 10);
  for (uint64_t i = 1; i <= n; ++i) pool_append(pool, i);
  printf("%" PRIu64 " numbers, sum %" PRIu64 "\n", pool_count(pool), pool_sum(pool));
  pool_close(pool);
  return 0;
}
