// The record of a unit's prepared bitcode (events/contract.h) in the object file.
#pragma once

#include "llvm/IR/Module.h"

namespace blackout {

// Does nothing to a module that has its record already: one that is compiled from IR, or for the second time.
void keepBitcode(llvm::Module& m, const llvm::Module& prepared);

}  // namespace blackout
