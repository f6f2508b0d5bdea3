// Makes the front end's code the same whatever the level of optimisation it was asked for: what only an optimising
// front end emits, or only one that doesn't optimise, is taken away.
#pragma once

#include "llvm/IR/Module.h"

namespace blackout {

void makeCanonical(llvm::Module& m);

}  // namespace blackout
