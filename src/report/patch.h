// A fix as a unified diff against the source: the flushes and fences that were tried, written with the program's own
// functions. Where the text of the source does not tell how to write it, there is no diff; what was tried is told in
// words then. Decision 0027.
#pragma once

#include <optional>
#include <string>

#include "findings/finding.h"
#include "report/excerpt.h"

namespace blackout {

struct Patch {
  std::string diff;  // for `patch -p1` in the folder `root`; of sources elsewhere with their whole paths, for -p0
  const Fix* fix = nullptr;
};

// The cheapest of the finding's fixes that can be written; none: none can.
std::optional<Patch> patchOf(const Finding& finding, SourceFiles& sources, const std::string& root);

// "flushes and a fence after list.cpp:11": what a fix adds, and where.
std::string describe(const Fix& fix);
// What was tried, and what it costs.
std::string triedText(const Fix& fix);

}  // namespace blackout
