// Turns of loops are counted in restarts: a loop that never ends is told by a number then, which is the same on every
// machine and at any load, not by a clock.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "pass/hooks.h"

namespace blackout {

// Counts in every loop of the function but those that surely end soon. `record` is the module's blackout_module. Comes
// after all other insertions: it adds branches to loops.
void countTurns(llvm::Function& f, Hooks& hooks, llvm::GlobalVariable* record);

}  // namespace blackout
