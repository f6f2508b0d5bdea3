// Takes from a module's debug information all that the places of instructions don't need: variables and types, which
// are most of it.
#pragma once

#include "llvm/IR/Module.h"

namespace blackout {

void slimDebugInfo(llvm::Module& m);

}  // namespace blackout
