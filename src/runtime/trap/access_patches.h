// Instructions in plain code that access PM often: after some faults one is replaced by a jump to a stub that asks for
// its address (access_stub.h), together with as many of its neighbours as the jump needs. Every one of these that can
// access PM is asked there.
//
// The instruction itself is proved by having faulted; that its neighbours are what they seem, by the sweep of their
// function. Where one of them begins the jump has a breakpoint's byte, so that whoever gets there is sent to its place
// in the stub: no proof is needed that nobody does, and threads and interrupted handlers may be anywhere while it is
// put in place. What can't be had keeps faulting.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "runtime/trap/access_stub.h"

namespace blackout::rt {

// The file whose code is patched, and what is wanted of it.
struct CodeFile {
  uintptr_t begin;  // of its code
  uintptr_t end;
  bool runtime;  // libc and its kind: they may run where a breakpoint can't be handled
};

struct AccessPatching {
  bool reads;  // those that only read, too
  StubBytes thread;
  // The file that holds an address; false: none that may be patched.
  bool (*file)(uintptr_t pc, CodeFile& file);
  // Of the instruction's site.
  uint64_t (*id)(uintptr_t pc, const Instruction& i);
};

// Before the first; not in a signal handler. False: nothing can be patched here.
bool prepareAccessPatches(const AccessPatching& wanted);

// Patches the instruction that has faulted at pc, in the program or in the copy of a patch (patches.h). True: it is
// patched now. Async-signal-safe; another thread's attempt at the same time is refused.
bool patchAccess(uintptr_t pc);

// The bytes of an instruction before it was patched; null: it is not.
const uint8_t* originalAt(uintptr_t pc);

// A SIGTRAP: true if it was a breakpoint's byte of a patch; the context is where it goes on.
bool accessTrapped(ucontext_t& context);

// The same before it gets there.
void enterPatch(ucontext_t& context);

// In a stub: where the program has it; `exact`: whether its registers are the program's, too. An address that is in no
// stub is its own.
uintptr_t placeOfAccess(uintptr_t pc, bool* exact = nullptr);
// The same through the stubs of fences, too.
uintptr_t programPlace(uintptr_t pc);
// The copy of an access that is executed on other memory, at this address; null: none.
const PatchedAccess* copyAt(uintptr_t pc);

// The file is being unloaded.
void forgetAccessPatches(uintptr_t begin, uintptr_t end);

// So many instructions are patched, and so many could not be.
struct AccessPatchCount {
  uint32_t patched;
  uint32_t refused;
};
AccessPatchCount accessPatchCount();

}  // namespace blackout::rt
