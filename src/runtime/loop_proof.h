// Whether a thread loops for ever: it is made to go on instruction by instruction until its registers and all writable
// memory are what they were. If everybody else waits for it, and it asked the kernel, the clock and chance for nothing
// in between, it will do the same again and again. A loop that counts is not shown that way.
#pragma once

#include "runtime/held_thread.h"

namespace blackout::rt {

// All other threads of the run are blocked (blocked.h). Tries at most so many instructions.
bool loopsForEver(HeldThread& thread, unsigned instructions);

}  // namespace blackout::rt
