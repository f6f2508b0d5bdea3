// Which program files are loaded, and which of them are instrumented: the tool needs both to name
// places, and to say honestly what could not be seen.
#pragma once

namespace blackout::rt {

// Appends a record for every program file not yet recorded. Outside any Scope.
void noteModules();

}  // namespace blackout::rt
