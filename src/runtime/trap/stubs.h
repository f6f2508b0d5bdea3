// The code that a patched place jumps to: it asks whether anything is to be done, calls the action with the program's
// registers in a context, and then executes the original and what had to move with it, and goes back. Stubs never
// change once they are written, so any number of threads and signal handlers may be in one. The action sees the program
// at the patched place; the way up the stack never leads through a stub.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/trap/patch.h"

namespace blackout::rt {

// A patch and its stub.
struct Row {
  Patch patch;
  PatchAction action;
  uintptr_t stub;
  uintptr_t copy;   // in the stub: the program's instructions from patch.pc on
  uint8_t copied;   // bytes of them
  bool breakpoint;  // the stub is the copy only
  // In the stub, behind what is done without vector registers: all of it was done; the action is to be called.
  uintptr_t done;
  uintptr_t full;
};

constexpr size_t kMaxStub = 160;

// Before the first stub that calls an action. False: the processor can't save its vector registers (XSAVE).
bool prepareStubs();

// Writes the stub of `fence` to row.stub, and fills in the rest of the row; row.action and row.breakpoint are given.
// The program's instructions must still be in their places. Returns its size; 0: the distance is too far.
size_t writeStub(const Fence& fence, Row& row);

// Calls the action, as if no code of ours had run. For a breakpoint's, with the context of its signal.
void act(const Row& row, PatchAction action, ucontext_t& context);

}  // namespace blackout::rt
