// Programs that a process of the run is about to execute: whether the runtime will be in them too.
#pragma once

namespace blackout::rt {

// Says so if the runtime can't be loaded into the program: what it does to a pool is not seen then. `search`: a name
// without a slash is looked for in PATH, as execvp() does.
void noteExecutable(const char* file, bool search);

}  // namespace blackout::rt
