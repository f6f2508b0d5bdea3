// From failing crash states to their causes. A failing state is made as small as it gets and its cause is named
// (cause_naming.h); states that this cause explains are counted, not examined, so that few runs are needed beyond those
// that the tree already knows. One mistake is one cause, however many states show it.
#pragma once

#include <string>
#include <vector>

#include "judge/cause_naming.h"
#include "run/patience.h"

namespace blackout {

struct CauseOptions {
  NamingOptions naming;
  std::size_t examined = 200;  // failing states that are made small; the others are counted
  // States that fail like this fail without any crash; empty: none.
  std::string withoutCrash;
  Patience patience;  // once it is over, nothing more is examined
};

// The causes of all failing states that were explored, in the order in which they were found: fewest lost stores
// first.
Result<std::vector<Cause>> findCauses(StateProbe& probe, const CauseOptions& options);

}  // namespace blackout
