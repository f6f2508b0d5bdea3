// The entry of one function in .eh_frame: its addresses, and the programs from which the rules of its frame follow.
// Inside the unwinder only; everything points into the mapped tables.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/trap/eh_frame.h"

namespace blackout::rt {

struct Block {
  const uint8_t* begin;
  const uint8_t* end;
};

struct FrameEntry {
  FunctionRange range;
  Block common;         // of the CIE: the rules at every function's first instruction
  Block own;            // of the FDE: how they change on the way
  uint64_t codeFactor;  // the units of the programs
  int64_t dataFactor;
  uint8_t encoding;  // of addresses in them
  bool signal;       // the frame of a signal's return, where nothing was called
};

// The entry of the function that contains pc. False: none, or a damaged one.
bool findEntry(const FrameTable& table, uintptr_t pc, FrameEntry& entry);

// The table in the list whose file contains pc. Async-signal-safe.
bool findTable(uintptr_t pc, FrameTable& table);

// Changes whenever a table comes or goes. What was concluded from tables under a number counts no more under another
// one.
uint64_t tablesGeneration();

}  // namespace blackout::rt
