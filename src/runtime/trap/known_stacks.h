// Places of events that plain code makes again and again: which (instruction, stack) has which number in the trace. A
// walk up the stack reads some words of it; while they are what they were, it need not be made again. Inside a Scope.
#pragma once

#include <stdint.h>

#include "runtime/trap/eh_frame.h"

namespace blackout::rt {

// 0: not known. Touches no vector register.
uint32_t knownWhere(uintptr_t pc, uintptr_t sp, uintptr_t rbp);
void keepWhere(const Frame& from, const Trail& trail, uint32_t where);

}  // namespace blackout::rt
