// Signals that traps need, as the program sees them (interpose_signals.cpp).
#pragma once

#include <signal.h>
#include <stdint.h>

namespace blackout::rt {

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

}  // namespace blackout::rt
