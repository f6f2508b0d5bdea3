// Program files that are loaded, as the trap front end needs them: their unwind tables, and their code with its fences
// replaced. Those that the program loads later come too: the loader calls a function of its own, made for debuggers,
// whenever its list has changed, and that function is replaced by a breakpoint.
#pragma once

#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <ucontext.h>

#include "runtime/trap/access_patches.h"
#include "runtime/trap/patches.h"

namespace blackout::rt {

// Whether code that is not instrumented works on PM: the program itself, or a library that is made for it.
bool worksPlainly();
// Whether the program itself is not instrumented; and whether this is its file.
bool isPlainProgram();
bool isPlainProgram(uintptr_t begin, uintptr_t end);

// By the file, not by a link to it; the program itself by its own path.
const char* moduleName(const dl_phdr_info& info, char (&path)[PATH_MAX]);

// Called for each file that is neither the runtime's nor libc's, after a file that begins there is gone, and after the
// list has changed.
struct LoaderEvents {
  void (*loaded)(const dl_phdr_info& info);
  void (*unloaded)(uintptr_t begin);
  void (*changed)();
};
// Takes all that is loaded, and from then on what will be. Not in a signal handler.
void followLoader(PatchAction action, LoaderEvents events);
// An instrumented file that was loaded says where its site table is: other code that is linked with it is searched now.
void searchInstrumented(uintptr_t inside, uintptr_t sitesBegin, uintptr_t sitesEnd);
// A SIGTRAP: true if it was the loader's, and has been handled.
bool loaderTrapped(ucontext_t& context, PatchAction action);

// What the code search found in the program file that begins here; null: it was not searched.
const PatchCount* patchesOf(uintptr_t begin);
// Whether the program file that holds this code carries pmemcheck's requests.
bool carriesRequests(uintptr_t pc);
// The runtime's own code, and libc's, which it calls.
bool inRuntime(uintptr_t pc);

// The code of the file that holds pc, if accesses in it may be patched: not our own, nor the loader's, nor a
// sanitizer's.
bool patchableCode(uintptr_t pc, CodeFile& file);

// The program file that holds pc: the hash of its name and its load bias; false: none.
bool locate(uintptr_t pc, uint32_t& nameHash, uintptr_t& bias);
// The load bias of the file whose name has this hash; false: it is not loaded.
bool biasOf(uint32_t nameHash, uintptr_t& bias);

}  // namespace blackout::rt
