// What is done at an access to PM in a stub, for the forms and cases that are the most: a recording's stores, whose
// place in the trace is known already, and all accesses of a restart that is only observed. Everything else is done as
// at a fault.
#pragma once

#include <signal.h>

#include "runtime/trap/access_stub.h"

namespace blackout::rt {

// For AccessActions. They touch no vector register: this file, and those that it calls, are compiled so.
uintptr_t accessBegun(AccessFrame& frame);
uintptr_t accessEnded(AccessFrame& frame);

// While the event of such an access is under way the program's signals wait for its end: as they do while a fault is
// handled, and a handler may access PM itself.
void endStub();
// The right to append, with signals that wait, and its end. False: others have the trace for long.
bool enterStub();
void leaveStub();
// The address of an operand, without its segment.
uintptr_t addressOf(const Address& a, AccessFrame& f);
// In the handler of a signal. True: it waits, and the context has all signals blocked but these.
bool deferSignal(const siginfo_t& info, ucontext_t& context, uint64_t unblocked);

// The program's registers at the access whose stub has called, while it is inside such a call; false: it is in none.
// For whoever interrupts it and asks where the program is.
bool accessUnderWay(ucontext_t& context);
// The third of AccessActions says that it is inside, and where; null: no more.
void setWholeAccess(const ucontext_t* context);

// A fault in the copy, which `access` is: what was begun is over, and the context is the program's at the original.
void abandonAccess(const PatchedAccess& access, ucontext_t& context);

}  // namespace blackout::rt
