// Statements that only do work that is wasted: each flush and each fence that the recorded run makes in them guarantees
// nothing, and nothing else of persistent memory is done there. Without them, in the simulation, each store is
// guaranteed from the same event on, so a crash at any point leaves what it left before (decision 0027).
#pragma once

#include "binary/stacks.h"
#include "findings/finding.h"
#include "model/index.h"

namespace blackout {

// Gives findings of wasted flushes and fences, whose places are known, the statement that can go.
void findRemovals(std::vector<Finding>& findings, const Index& index, Stacks& stacks);

}  // namespace blackout
