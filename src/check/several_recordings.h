// What checks that make more than one recording share: the time that there is for all of them, and a look at how one
// ended before anything is said of what it did.
#pragma once

#include <sys/wait.h>

#include <algorithm>

#include "check/check.h"
#include "events/trace.h"
#include "run/patience.h"

namespace blackout {

// What there is of --time as a whole, and who may interrupt it. Each exploration gets what is left.
inline Patience patienceOf(const CheckOptions& options) {
  if (!options.crash) return {};
  return {options.crash->interrupt, options.crash->again, options.crash->seconds};
}

// Each exploration is one of several: there is nothing to go on from, and nothing to save. Who asks for it is told.
inline Result<void> refuseResume(const CheckOptions& options) {
  if (!options.crash || options.crash->resume.empty()) return {};
  return fail("--resume: there is an exploration of each schedule, and none to go on from; leave it out");
}
inline void withoutResume(CheckOptions& options) {
  if (!options.crash) return;
  options.crash->resume.clear();
  options.crash->saveTo.clear();
}

// False: it died, said by its exit code that something is wrong, or came into a deadlock. What it would have done next
// is not known.
inline bool endedWell(const Recording& recording, const Trace& trace, const CheckOptions& options) {
  bool right = recording.waitStatus == 0 || (options.anyExit && WIFEXITED(recording.waitStatus));
  return right && (trace.problems() & BLACKOUT_PROBLEM_STOPPED) == 0;
}

// Of a recording that is not judged: why its trace is not whole, each sentence once.
inline void tellIncomplete(const Recording& recording, Report& report) {
  for (const std::string& s : recording.incomplete)
    if (std::find(report.incomplete.begin(), report.incomplete.end(), s) == report.incomplete.end())
      report.incomplete.push_back(s);
}

}  // namespace blackout
