// `blackout diff`: which findings of a report are new against another one, which are gone, and which are still there.
// They are recognised by their fingerprints.
#pragma once

#include <string>
#include <vector>

#include "report/saved_report.h"

namespace blackout {

struct RunDiff {
  std::vector<SavedReport::Listed> fresh, gone, still;
  std::vector<std::string> notes;  // what the comparison does not say, and why
  // What is not found any more may only not have been looked at.
  bool conclusive = true;
};

// What was only suspected before and is shown now is new.
RunDiff compare(const SavedReport& before, const SavedReport& now);

std::string renderDiff(const RunDiff& diff);

// 1: something is new; 3: nothing is, as far as was looked.
ExitCode exitCodeOf(const RunDiff& diff);

}  // namespace blackout
