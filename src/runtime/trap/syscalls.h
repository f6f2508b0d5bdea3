// System calls that are handed PM.
#pragma once

#include <stdint.h>

namespace blackout::rt {

// The kernel hands over calls with an argument in this stretch, for good and in all forks.
void followSystemCalls(uintptr_t begin, uintptr_t end);
// What is handed over comes to us.
void takeSystemCalls();

}  // namespace blackout::rt
