// What a result means and what it doesn't, in sentences: every rendering carries them, so that a
// clean run is not taken for more than it is.
#pragma once

#include <string>
#include <vector>

#include "findings/report.h"

namespace blackout {

std::vector<std::string> caveatsOf(const Report& report);

}  // namespace blackout
