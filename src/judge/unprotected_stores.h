// The test of stores that no mechanism protects (Silhouette, 4.4). A restart may say on which side of the operation
// that the crash interrupted it found the program (blackout_recovered). What the crash plan dropped or kept alone, a
// store that nothing protects, must be on the same side by then: it holds what it held before the operation, or what it
// held when that had ended. Only what the restart used is judged, bytes that it read or had stored to by then: what
// lies in free space, or is made anew before anybody looks, is no difference. It is only suspected, as a byte may be
// used and not matter.
#pragma once

#include "detect/detect.h"
#include "judge/finding_builder.h"
#include "mechanisms/plans.h"

namespace blackout {

// Findings, by the store.
Result<std::vector<ShownFinding>> judgeUnprotectedStores(const ShowContext& context, const CrashPlans& plans);

}  // namespace blackout
