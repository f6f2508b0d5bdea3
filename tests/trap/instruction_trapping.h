// Memory that traps, and a handler that has the instructions' effects through its second mapping: the trap front end in
// small, for tests of what an instruction is and does.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/trap/instruction.h"

struct Trapped {
  uint8_t* memory;  // may be protected
  uint8_t* second;  // the same bytes, never protected
  size_t size;
};

// Memory at this address, or anywhere for 0. Trapping is on or off for all of it.
Trapped trappedMemory(uintptr_t address, size_t size);
void protect(const Trapped& memory, bool on);

// What a thread's last trap was.
struct Trap {
  int count;  // since it was last set to 0
  blackout::rt::Access access;
  blackout::rt::Stored stored;
  blackout::rt::Executed executed;
  blackout_site_kind kind;
};
extern thread_local Trap trap;
// A trap executes at most so many iterations of a repeated instruction.
extern thread_local uint64_t iterationsPerTrap;

// Installs the handler, on a stack of its own for the calling thread. Every thread calls it.
void catchTraps();
// Where trapped memory is without protection; any other address is its own.
uintptr_t secondOf(uintptr_t address);

// Where the handler goes after a trap that wasn't executed; the program is there with its registers unchanged.
extern void* volatile unexecuted;
