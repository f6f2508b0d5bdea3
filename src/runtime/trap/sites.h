// Places in code that has no site table.
#pragma once

#include <stdint.h>
#include <ucontext.h>

#include "events/contract.h"
#include "runtime/trap/eh_frame.h"

namespace blackout::rt {

// Inside a Scope. The instruction at pc.
blackout_site* trappedSite(uintptr_t pc, blackout_site_kind kind, uint32_t size);
uint64_t trappedId(uintptr_t pc, blackout_site_kind kind);
// For a function of a library that stands in for the real one: the caller's instruction, if it is trapped; else the
// function by its name.
blackout_site* callerSite(const char* function, blackout_site_kind kind, const void* returnAddress);

// The program's frame at an instruction that was interrupted; in a stub, at the one that it stands for.
Frame frameOf(const ucontext_t& context);

}  // namespace blackout::rt
