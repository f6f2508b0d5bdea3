// System calls that are handed PM, or made without libc.
#pragma once

#include <link.h>
#include <stdint.h>

#include "runtime/system_call_table.h"

namespace blackout::rt {

// The kernel hands over calls with an argument in this stretch, for good and in all forks.
void followSystemCalls(uintptr_t begin, uintptr_t end);
// The same of calls by instructions of this program file, if the runtime has a function for them.
void followInstructions(const dl_phdr_info& info);
// And of those functions of libc's that no function of ours stands before.
void followLibc();

// How such a call is made: calls_by_number.h.
extern bool (*makeByNumber)(long number, const long (&a)[kCallArguments], long& result);
// Whether a call makes a process or thread that begins in the middle of the program's code, which only the program's
// own instruction can; and what is said of it then.
bool makesTask(long number, const long (&a)[kCallArguments]);
void unfollowedTask();

// What is handed over comes to us.
void takeSystemCalls();

}  // namespace blackout::rt
