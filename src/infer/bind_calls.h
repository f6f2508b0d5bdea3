// Calls bound to their callers, where the index into an array, the array itself or a number that is compared with an
// index is an argument: such functions are inlined, so that a read is looked at with what each caller knows. As long as
// the program does not become much larger.
#pragma once

#include "llvm/IR/Module.h"

namespace blackout {

void bindCalls(llvm::Module& m);

}  // namespace blackout
