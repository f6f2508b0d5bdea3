// Checks the consistency mechanisms that a description tells of: tags every store of the trace with mechanism and
// phase, and says which rules are broken (Silhouette, sections 3 and 4.2).
#pragma once

#include "mechanisms/description.h"
#include "mechanisms/phases.h"

namespace blackout {

// The description's names are looked up in `layouts`, to which its own structs are added. An error if one is wrong.
Result<Phases> checkMechanisms(const Index& index, Description& description, StructLayouts& layouts);

}  // namespace blackout
