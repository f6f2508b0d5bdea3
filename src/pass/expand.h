// Inlines the small functions of a module into their callers and takes local variables out of memory, so that an access
// stands beside what its address and value come from. Which ones depends on nothing but the code: not on the level of
// optimisation, as the compiler's own inliner does. No address computation and no branch is rewritten, except that code
// for an argument that is constant keeps only the branches that it takes.
#pragma once

#include "llvm/IR/Module.h"

namespace blackout {

// The module has its markers (markers.h).
void expand(llvm::Module& m);

}  // namespace blackout
