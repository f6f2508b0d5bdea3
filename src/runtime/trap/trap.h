// The trap front end: programs and libraries that were not compiled by Blackout. Pages of PM are protected; the handler
// of the fault finds out what the instruction does, has it done through a second mapping of the same memory, and
// records it. A recording protects all of PM against writes. A recovery run protects the pages with a watched line
// against everything, until all that is watched there has been seen; while a page is protected, its content is the
// second mapping's.
#pragma once

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "runtime/regions.h"
#include "runtime/trap/eh_frame.h"
#include "runtime/trap/pages.h"

namespace blackout::rt {

// What can be done once for all forks of this process: the decoder, unwind tables, the code of what is loaded. Before
// the fork server parks.
void prepareTraps();
// Signal handlers and system calls, in the process that runs the program.
void beginTraps();

// --- interpose_signals.cpp: signals that traps need, as the program sees them ---
// Takes the signal over; what was there is the program's.
void takeSignal(int signal, void (*handler)(int, siginfo_t*, void*));
// Which are taken over.
bool isTaken(int signal);
uint64_t takenSignals();
// What the program blocks, by a set as the kernel has it; an errno, or 0.
int changeBlocked(int how, const uint64_t* set, uint64_t* old);
// It is the program's own: its handler runs, or what the kernel would do happens.
void deliver(int signal, siginfo_t* info, void* context);
// The program jumps, maybe out of its handler. The mask that sigsetjmp() saved is the kernel's and says nothing of
// these signals. A jump within a handler can't be told apart; it unblocks them too early, which does no harm.
void leaveHandlers(bool restoresMask);

// --- syscalls.cpp: system calls that are handed PM, or made without libc ---
// The kernel hands over calls with an argument in this stretch, for good and in all forks.
void followSystemCalls(uintptr_t begin, uintptr_t end);
// The same of calls by instructions in these two stretches of code, if the runtime has a function for them. Of libc's
// own only those that no function of libc's is for that ours stands before.
void followInstructions(const uintptr_t (&stretches)[4], bool libc);
// What is handed over comes to us.
void takeSystemCalls();

// --- sites.cpp: places in code that has no site table ---
// Inside a Scope. The instruction at pc.
blackout_site* trappedSite(uintptr_t pc, blackout_site_kind kind, uint32_t size);
uint64_t trappedId(uintptr_t pc, blackout_site_kind kind);
// For a function of a library that stands in for the real one: the caller's instruction, if it is trapped; else the
// function by its name.
blackout_site* callerSite(const char* function, blackout_site_kind kind, const void* returnAddress);

Frame frameOf(const ucontext_t& context);

}  // namespace blackout::rt
