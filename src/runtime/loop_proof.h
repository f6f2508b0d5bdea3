// Whether a thread loops for ever: it is made to go on instruction by instruction until its registers and all writable
// memory are what they were. If everybody else waits for it, and it asked the kernel, the clock and chance for nothing
// in between, it will do the same again and again. A loop that counts is not shown that way.
//
// Where a loop was shown before, another run that is there is likely to be in it as well: that is a reason to try
// sooner, and no more than that.
#pragma once

#include "runtime/held_thread.h"

namespace blackout::rt {

// All other threads of the run are blocked (blocked.h). Tries at most so many instructions, and in proportion to them
// that much memory.
bool loopsForEver(HeldThread& thread, unsigned instructions);
// Whether any loop was shown by this worker, and whether the thread is where one was; 0: no, or the instructions that
// showing it took.
bool anyLoopKnown();
unsigned knownLoopAt(const HeldThread& thread);

}  // namespace blackout::rt
