// Backward slices of all values of a program: through SSA values, phis with the branches that choose between their
// values, what callees return and leave in their callers' variables (summaries, from callees to callers), and stores
// to variables. A slice ends at reads of persistent fields; their addresses are slices of their own.
#pragma once

#include <memory>
#include <vector>

#include "infer/function_facts.h"
#include "infer/objects.h"
#include "infer/persistent_types.h"

namespace blackout {

struct ProgramFacts {
  ReadTable reads;
  ValueSets sets;
  std::unique_ptr<Objects> objects;
  std::vector<FollowedMemory> memory;
  std::vector<SetNo> stored;  // what is written into each of `memory`, in the
                              // writers' own terms
  IdVector<FunctionNo, FunctionFacts> functions;
};

// `steps`: the budget of work (ValueSets).
ProgramFacts sliceProgram(ProgramCode& code, const PersistentTypes& types, std::uint64_t steps);

}  // namespace blackout
