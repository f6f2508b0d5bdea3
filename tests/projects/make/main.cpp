// numbers POOL JOURNAL N: appends 1..N to the pool and counts the run in the journal.
#include <cstdio>
#include <cstdlib>

#include "journal.h"
#include "pool.h"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const unsigned long run = journal_run(argv[2]);
  pool* p = pool_open(argv[1]);
  if (!p || run == 0) return 1;
  const uint64_t n = std::strtoull(argv[3], nullptr, 10);
  for (uint64_t i = 1; i <= n; ++i) pool_append(p, i);
  std::printf("run %lu: sum %lu\n", run, static_cast<unsigned long>(pool_sum(p)));
  pool_close(p);
  return 0;
}
