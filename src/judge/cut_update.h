// An update that a crash cuts in two though it loses nothing.
#pragma once

#include "judge/examined_state.h"

namespace blackout {

// With everything persisted it fails at these neighbouring points: a crash there cuts an update in two. It begins
// with a store between the last point that is fine and the first that is not, and goes on with the first store after
// the last of them; of what the recovery reads, that is.
Result<void> nameCutUpdate(ExaminedState& s, SpaceNo low, SpaceNo high);

}  // namespace blackout
