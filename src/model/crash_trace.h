// What a crash leaves, as a trace of its own: the files with their content from before its beginning, where
// they were mapped, and the operations of the recording. A restart on it is a recovery run at
// its only point.
#pragma once

#include <span>
#include <string>

#include "model/crash_state.h"
#include "model/index.h"

namespace blackout {

struct CrashTrace {
  std::string bytes;  // of a sealed trace
  EventNo at = 0;     // the point
};

// Level i of the state is a crash in the trace of indexes[i], as for buildImage. `replaced` lies over what it left.
Result<CrashTrace> crashTrace(const CrashState& state, std::span<const Index* const> indexes,
                              std::span<const ReplacedWord> replaced = {});

}  // namespace blackout
