// A restart on the intact final image: the recording ran to its end and nothing was lost. What fails there is a bug
// of the program and no crash bug, so it is asked first of all. It also tells what a restart costs.
#pragma once

#include <vector>

#include "binary/stacks.h"
#include "model/tracked_bytes.h"
#include "run/run.h"

namespace blackout {

struct IntactRestart {
  CrashLevel level;  // the end of the recording
  RunEnd result;
  std::vector<Frame> endedAt;  // empty: unknown
  double seconds = 0;          // that a run takes
};

// `end` has one point: the end of the recording.
Result<IntactRestart> restartIntact(const Baseline& end, Runner& runner, Stacks& stacks);

}  // namespace blackout
