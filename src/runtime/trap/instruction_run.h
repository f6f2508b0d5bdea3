// The routine that has the processor execute a copied instruction with the program's registers. It keeps the stack and
// the callee-saved registers of its caller; only rsp is never the program's, so that a fault inside the copy goes to
// the stack that the handler is on.
#pragma once

#include <stdint.h>

namespace blackout::rt {

struct Run {
  uint64_t registers[16];  // before and after; rsp is ignored
  uint64_t flags;
  const void* code;    // returns with `ret`
  void* state;         // the vector state, in the signal frame
  uint64_t restored;   // its components to load before; 0: none
  uint64_t saved;      // to store back; 0: none
  const void* resume;  // set by the routine: where a fault goes on, at the stack pointer of the call, with rdi = this
  uint32_t mxcsr;      // the caller's
  uint16_t x87Control;
  bool loadFlags;  // flags matter
  bool fxsave;     // the state is an FXSAVE area
  bool faulted;    // set by the fault handler
};

void run(Run* r);

// In a fault inside the copy: the Run that it belongs to, by the stack pointer there, and that of the call.
Run* runAt(uintptr_t sp);
constexpr uintptr_t kResumeAbove = 8;

}  // namespace blackout::rt
