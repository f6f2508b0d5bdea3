// Places of events that plain code makes again and again: which (instruction, stack) has which number in the trace. A
// walk up the stack reads some words of it; while they are what they were, it need not be made again. Inside a Scope.
#pragma once

#include <stdint.h>

#include "events/contract.h"
#include "runtime/trap/eh_frame.h"

namespace blackout::rt {

// 0: not known. Touches no vector register. `site`: of a call to a function that stands in for another; null: the
// instruction's own.
uint32_t knownWhere(uintptr_t pc, uintptr_t sp, uintptr_t rbp, const blackout_site* site = nullptr);
void keepWhere(const Frame& from, const Trail& trail, uint32_t where, const blackout_site* site = nullptr);

// The place of a call to a function of the runtime that stands in for another: its site, and its frame.
uint32_t whereCalled(blackout_site* site, const void* frame);

}  // namespace blackout::rt
