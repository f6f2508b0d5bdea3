// Numbers that all parts of an exploration and those who read its results share.
#pragma once

#include <cstdint>

#include "events/id.h"

namespace blackout {

// Number of a crash space. Those of the first crash come first: number and pointNo are the same. Then those of
// the second crash, and so on.
using SpaceNo = Id<struct SpaceNoTag, std::uint32_t>;
// Number of a recovery that was run: a leaf of a recovery tree.
using RecoveryNo = Id<struct RecoveryNoTag, std::uint32_t>;
// Number of a distinct outcome.
using OutcomeNo = Id<struct OutcomeNoTag, std::uint32_t>;

}  // namespace blackout
