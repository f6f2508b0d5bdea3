// Functions of the standard library that only wrap an access (events/access_wrapper.h) are inlined at every level of
// optimisation: without that an unoptimised build has one site for all uses of std::atomic.
#pragma once

#include "llvm/IR/Module.h"

namespace blackout {

void inlineAccessWrappers(llvm::Module& m);

}  // namespace blackout
