// What a result means and what it doesn't, in sentences: every rendering carries them, or says where they
// are, so that a clean run is not taken for more than it is.
#pragma once

#include <string>
#include <vector>

#include "findings/report.h"

namespace blackout {

std::vector<std::string> caveatsOf(const Report& report);
// Of them, those that not every result has.
std::vector<std::string> caveatsOfThisRun(const Report& report);
// And those that every result has: `blackout help limits` says them, and docs/clean-run.md.
std::vector<std::string> limitsOfEveryResult();

}  // namespace blackout
