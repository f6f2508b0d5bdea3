// Branches that are none in the source, taken out of a program.
//
// Ways that run together only to part again: where variables go out of scope, front ends let all ways out of the scope
// (return, break, the end) run through one block, and switch on a number that says which way it was. An optimising one
// does so for every variable, another only where a destructor runs; and a test before one of the ways would seem to
// decide over all of them. Each is led to its own end.
//
// Conditions that are constant, which only some front ends fold. And loops without an end, which get one behind each
// turn: dependence is told by what comes after a test in any case.
#pragma once

#include "llvm/IR/Module.h"

namespace blackout {

void straighten(llvm::Module& m);

}  // namespace blackout
