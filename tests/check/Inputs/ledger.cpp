// Its mistakes, which are for its own tests to find: a crash in the middle of a call leaves what ledgerIsWhole refuses, a
// statistic is never flushed, and a fence has nothing to do.
#include "ledger.h"

#include <immintrin.h>

static void persist(void* p) {
  _mm_clwb(p);
  _mm_sfence();
}

__attribute__((noinline)) static void step(uint64_t* p, uint64_t value) {
  *p = value;
  persist(p);
}

void ledgerAdd(Ledger* ledger, uint64_t amount) {
  step(&ledger->begun, ledger->begun + 1);
  step(&ledger->total, ledger->total + amount);
  ledger->calls = ledger->calls + 1;
  step(&ledger->done, ledger->done + 1);
  _mm_sfence();
}

void ledgerEach(Ledger* ledger, void (*visit)(uint64_t* total)) {
  step(&ledger->begun, ledger->begun + 1);
  visit(&ledger->total);
  step(&ledger->done, ledger->done + 1);
}

void ledgerSet(uint64_t* flag) { step(flag, 1); }

void ledgerClear(uint64_t* p) {
  ledgerNote(p, 0);
  persist(p);
}

bool ledgerIsWhole(const Ledger* ledger) { return ledger->begun == ledger->done; }
