// Uses the library. With BUG a mistake of its own: the record is not flushed before it is declared valid; with COMMIT
// too, and it is the library that writes so, in the last call; with SHARED it is made by a function of the library's
// header. With OPERATIONS the calls in the loop are marked as such.
#include <blackout/blackout.h>
#include <immintrin.h>

#include "Inputs/pool.h"
#include "ledger.h"

struct Pool {
  alignas(64) uint64_t record;
  alignas(64) uint64_t valid;
  Ledger ledger;
};

static void persist(void* p) {
  _mm_clwb(p);
  _mm_sfence();
}

static void twice(uint64_t* total) {
  *total = 2 * *total;
  persist(total);
}

int main(int, char** argv) {
  auto* pool = static_cast<Pool*>(mapPool(argv[1], 4096));
  if (!ledgerIsWhole(&pool->ledger)) return 4;
  if (pool->valid != 0) return pool->record == 42 ? 0 : 3;
  ledgerAdd(&pool->ledger, 1);
  ledgerAdd(&pool->ledger, 2);
#ifdef SHARED
  ledgerNote(&pool->record, 42);
#else
  pool->record = 42;
#endif
#if !defined(BUG) && !defined(COMMIT) && !defined(SHARED)
  persist(&pool->record);
#endif
  ledgerEach(&pool->ledger, twice);
#pragma clang loop unroll(disable)
  for (int i = 0; i < 5; ++i) {
#ifdef OPERATIONS
    blackout_op_begin("add", 3);
#endif
    ledgerAdd(&pool->ledger, 3);
#ifdef OPERATIONS
    blackout_op_end(0);
#endif
  }
#ifdef COMMIT
  ledgerSet(&pool->valid);
#else
  pool->valid = 1;
  persist(&pool->valid);
#endif
}
