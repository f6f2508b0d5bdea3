// What a program file carries beside its sites: the record that the inline checks read, and the
// constructor and destructor that show it to the runtime. Every object file brings them; the linker keeps one.
#pragma once

#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"

namespace blackout {

class Hooks;

// The module's blackout_module.
llvm::GlobalVariable* makeModuleRecord(llvm::Module& m);
void makeConstructors(llvm::Module& m, Hooks& hooks, llvm::GlobalVariable* record);

}  // namespace blackout
