// Restarts without a crash. On the intact final image: the recording ran to its end and nothing was lost. What fails
// there is a bug of the program and no crash bug, so it is asked first of all; it also tells what a restart costs. And
// on the pools as they were before the run.
#pragma once

#include <vector>

#include "binary/stacks.h"
#include "judge/site_coverage.h"
#include "model/tracked_bytes.h"
#include "run/run.h"

namespace blackout {

struct IntactRestart {
  CrashLevel level;  // the end of the recording
  RunEnd result;
  std::vector<Frame> endedAt;  // empty: unknown
  LinesReached recovery;       // what it came by before its first operation
  double seconds = 0;          // that a run takes
  double executing = 0;        // of these, until the programs that it executes are loaded; 0: none
};

// The points of a baseline for both: the beginning of the recording and its end.
std::vector<EventNo> uncrashedPoints(const Trace& trace);

// Both take a runner on a baseline with these points.
Result<IntactRestart> restartIntact(const Baseline& ends, Runner& runner, Stacks& stacks);
Result<RunEnd> restartBefore(Runner& runner);

}  // namespace blackout
