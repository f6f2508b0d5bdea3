// Which program files are loaded, and which of them are instrumented: the tool needs both to name
// places, and to say honestly what could not be seen.
#pragma once

#include <limits.h>
#include <link.h>
#include <stdint.h>

namespace blackout::rt {

// Appends a record for every program file not yet recorded. Outside any Scope.
void noteModules();
// In a program that a restart executed: its program files, for the tool. Once it has joined the run.
void noteRunModules();
// The program file that was loaded there is gone: another one may come to the same place.
void forgetModule(uintptr_t begin);
// Whether an address lies in a program file that was noted and is instrumented. Safe in a signal handler.
bool inInstrumented(uintptr_t address);

}  // namespace blackout::rt
