// Flushes and fences that a program made, left out of its trace for an experiment: "would it be the same without them?"
// The trace keeps its numbers, and the model's rules are the model's own (see also inserted.h).
#pragma once

#include <vector>

#include "model/index.h"

namespace blackout {

// The index of the same trace by the same rules, without these events. `events`: flushes and fences, ascending.
Result<Index> withLeftOut(const Index& index, std::vector<EventNo> events);

// Whether a crash at any point may leave the same of both: each store is guaranteed from the same event on.
bool sameGuarantees(const Index& a, const Index& b);

}  // namespace blackout
