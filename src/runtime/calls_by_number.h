// System calls that the program makes by their numbers: by syscall(), or by an instruction of its own.
#pragma once

#include "runtime/system_call_table.h"

namespace blackout::rt {

// We make it instead of the kernel or for it: as libc's functions return, -1 with errno. False: nothing but its buffers
// matters, and it was not made.
bool callByNumber(long number, const long (&a)[kCallArguments], long& result);

}  // namespace blackout::rt
