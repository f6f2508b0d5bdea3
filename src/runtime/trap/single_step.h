// An instruction that can't be executed elsewhere runs where it is, on pages that are open for it alone; what it
// changed is found by comparing. The trace is locked meanwhile.
#pragma once

#include <stdint.h>
#include <ucontext.h>

namespace blackout::rt {

// Inside a Scope, which the step ends.
void beginStep(ucontext_t& context, uintptr_t address, uint32_t where);
// A SIGTRAP. False: it is none of ours.
bool endStep(ucontext_t& context);

}  // namespace blackout::rt
