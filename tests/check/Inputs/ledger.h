// A small library with data of its own in a pool: each call makes three steps durable, one after the other.
#pragma once
#include <stdint.h>

struct Ledger {
  alignas(64) uint64_t begun;
  alignas(64) uint64_t total;
  alignas(64) uint64_t done;
  alignas(64) uint64_t calls;  // a statistic that nobody flushes
};

void ledgerAdd(Ledger* ledger, uint64_t amount);
void ledgerEach(Ledger* ledger, void (*visit)(uint64_t* total));
void ledgerSet(uint64_t* flag);  // of the caller's, durably
bool ledgerIsWhole(const Ledger* ledger);
void ledgerClear(uint64_t* p);  // durably

// Compiled into the library and into whoever uses it.
inline void ledgerNote(uint64_t* p, uint64_t value) { *p = value; }
