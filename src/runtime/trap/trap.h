// The trap front end: programs and libraries that were not compiled by Blackout. Pages of PM are protected; the handler
// of the fault finds out what the instruction does, has it done through a second mapping of the same memory, and
// records it. A recording protects all of PM against writes. A recovery run protects the pages with a tracked line
// against everything, until all that is tracked there has been seen; while a page is protected, its content is the
// second mapping's.
#pragma once

namespace blackout::rt {

// What can be done once for all forks of this process: the decoder, unwind tables, the code of what is loaded. Before
// the fork server parks.
void prepareTraps();
// The handlers of faults and the stack that they run on. A worker takes them once, and its runs inherit them.
void takeFaults();
// Signal handlers and system calls, in the process that runs the program.
void beginTraps();

}  // namespace blackout::rt
