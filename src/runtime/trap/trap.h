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

namespace blackout::rt {

// Whether PM is protected in this process: the option "trap".
extern bool trapping;
// Whether code that was not compiled by Blackout is expected to work on PM: the program itself, or a library that is
// made for it. Stacks are walked by unwind tables then; frame pointers are faster and say as much of compiled code.
extern bool plainCode;

// What can be done once for all forks of this process: the decoder, unwind tables, the code of what is loaded. Before
// the fork server parks.
void prepareTraps();
// Signal handlers and system calls, in the process that runs the program.
void beginTraps();

// Inside a Scope. Gives a region that was just mapped from fd its second mapping, and protects it. `shared`: how it was
// mapped.
void trapRegion(Region& region, int fd, bool shared);
// The same for a region that the kernel moved or made larger.
void trapAgain(Region& region);
// Before the kernel moves or resizes these pages: it does so only with pages of one kind. Then, if it did not:
void unguard(uintptr_t begin, uintptr_t end, int protection);
void guardAgain(Region& region);
// The pages of these addresses of a region go.
void dropAlias(const Region& region, uintptr_t begin, uintptr_t end);

// In Region::pages.
constexpr uint16_t kPageWritten = 0x8000;
constexpr uint16_t kPageHeld = 0x7fff;

// A recovery run maps pages of a file that it has mapped already. Private mappings would part, so such pages stay
// protected in both, with one content. False: they are too many, the run needs files of its own.
bool canHold(uint32_t file, uint64_t offset, size_t size);
// Inside a Scope: adds a region that was just mapped, with its second mapping and its pages that are held.
bool addTrapped(Region region, int fd, bool shared);

// The fork server: system calls where the recording mapped PM are followed, once for all runs.
void followRecorded();

// A recovery run, before it takes files of its own: every page is what its second mapping says, and unprotected.
void openAllPages();

// The region whose pages hold p: what lies beside registered memory, on the same page, is protected with it.
Region* pageRegion(uintptr_t p);
// Where the byte is to be read and written by whoever must not fault. Inside a Scope.
inline uintptr_t reach(const Region& r, uintptr_t p) {
  return r.alias != 0 && (r.pages == nullptr || r.pages[p / 4096 - r.begin / 4096] != 0) ? p + uintptr_t(r.alias) : p;
}
// Where instrumented code of a restart may access [p, p + size) without a fault: p itself where that isn't protected,
// or is in two pages. `fresh`: something there was not seen before, so the page may have been seen whole by now. Inside
// a Scope, as the access is.
uintptr_t placeOf(uintptr_t p, size_t size, bool writes, bool fresh);
// Copies bytes of PM, or of any memory, that may be protected. Inside a Scope, or with one thread.
void readThrough(void* to, uintptr_t from, size_t size);
void writeThrough(uintptr_t to, const void* from, size_t size);
// The same as memmove() and memset().
void moveThrough(void* to, const void* from, size_t size);
void fillThrough(void* to, int c, size_t size);
// How many bytes from p on, at most size, lie in memory that is reached in one way.
size_t alikeBytes(uintptr_t p, size_t size);
// The recovery run writes here: the content of protected pages is the second mapping's.
void notePageWrites(uintptr_t p, size_t size);

// --- interpose_signals.cpp: signals that traps need, as the program sees them ---
// Takes the signal over; what was there is the program's.
void takeSignal(int signal, void (*handler)(int, siginfo_t*, void*));
// It is the program's own: its handler runs, or what the kernel would do happens.
void deliver(int signal, siginfo_t* info, void* context);
// The program jumps, maybe out of its handler. The mask that sigsetjmp() saved is the kernel's and says nothing of
// these signals. A jump within a handler can't be told apart; it unblocks them too early, which does no harm.
void leaveHandlers(bool restoresMask);

// --- syscalls.cpp: system calls that are handed PM ---
// The kernel hands over calls with an argument in this stretch, for good and in all forks.
void followSystemCalls(uintptr_t begin, uintptr_t end);
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
