// Fields that are mostly accessed together (MUVI, SOSP'07): by how often functions access both, whatever they do with
// them. A statistic of the code, and a weaker hint than guardians and counters: it is what those are compared with.
#pragma once

#include "infer/guardians.h"
#include "infer/persistent_types.h"

namespace blackout {

// In order of the two fields. What a function calls directly counts as its own.
std::vector<CorrelatedFields> correlatedFields(const ProgramCode& code, const PersistentTypes& types);

}  // namespace blackout
