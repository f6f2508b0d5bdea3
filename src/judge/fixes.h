// A cure as a change of the source: flushes and fences put where a statement could be, at every execution of it, and
// tried on every failing state of the finding, at all points. As flushes and fences only narrow what crashes may leave,
// the restarts that remain possible are among those that were made; so what is left of the finding is known without a
// run (decisions 0017 and 0027).
#pragma once

#include <utility>
#include <vector>

#include "binary/stacks.h"
#include "findings/fix.h"
#include "judge/cause_naming.h"

namespace blackout {

using FailingRestart = std::pair<SpaceNo, RecoveryNo>;

// Of a cause that a flush or a fence cures: changes after which none of its failing states can come about. The one that
// adds the fewest fences, then flushes, first.
std::vector<TriedFix> fixesOf(CureTrial& trial, StateProbe& probe, const Cause& cause,
                              const std::vector<FailingRestart>& failing);

// The same with places in the source, and the program's own functions to write it with.
std::vector<Fix> toldFixes(const Cause& cause, const Index& recording, Stacks& stacks);

}  // namespace blackout
