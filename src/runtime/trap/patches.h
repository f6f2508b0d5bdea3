// Instructions that order or flush PM without touching it: sfence, mfence, clwb and its kind, locked instructions on
// ordinary memory, and Valgrind's client requests. No page protection finds them, so they are found by disassembling
// the code of each program file, function by function, and replaced: by a jump to a stub where five bytes can be had,
// else by a breakpoint. What isn't proved to be an instruction stays as it is and is counted.
//
// A stub for a locked instruction asks one byte of the thread's state whether anything is to be ordered, and else
// executes the original; that is what ordinary code pays.
#pragma once

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "events/contract.h"
#include "runtime/trap/eh_frame.h"
#include "runtime/trap/patch.h"

namespace blackout::rt {

struct PatchCount {
  uint32_t patched = 0;
  uint32_t jumps = 0;     // of these, by a jump
  uint32_t unproved = 0;  // looked like one, and stayed as it is
  bool requests = false;  // it carries client requests of pmemcheck
};

struct PatchTarget {
  uintptr_t begin;  // of the loaded file
  uintptr_t end;
  const dl_phdr_info* info;
  // Of an instrumented file, its site table: what refers to it is not searched. It may have been linked with other
  // code.
  uintptr_t sitesBegin = 0;
  uintptr_t sitesEnd = 0;
};

// Not in an asynchronous signal handler; no thread may be executing the file's code, as when it has just been loaded.
// Which files, the caller decides: never the runtime itself, the loader, the vdso, nor libc and its parts (their locks
// are interposed by name). loadZydis() comes first.
PatchCount patchModule(const PatchTarget& target, PatchAction action);
// The file is being unloaded.
void forgetPatches(uintptr_t begin, uintptr_t end);

// The patch at this address; null: none. Async-signal-safe.
const Patch* patchAt(uintptr_t pc);

// A SIGTRAP: true if it was a breakpoint of a patch, and has been handled; the context is the program's next one.
bool patchTrapped(ucontext_t& context, PatchAction action);

// Originals, and short instructions behind them that had to make room, are executed in a stub, at another address but
// with the same length. They may fault there, on PM as elsewhere: this is where the program has the instruction. An
// address that is in no stub is its own place. Async-signal-safe.
uintptr_t placeInProgram(uintptr_t pc);
// The bytes of the program's instructions in the stub that holds pc, with the jump back; false: it is in none, or goes
// back otherwise.
bool copyOfPatch(uintptr_t pc, FunctionRange& copy);
// Where an instruction of the program is executed: itself, or its copy in a stub, if it or what is before it was
// replaced.
uintptr_t placeOfOriginal(uintptr_t pc);

}  // namespace blackout::rt
