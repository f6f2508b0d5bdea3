// The schedule of a finding with as few switches as still show it: the run under it is recorded as a list of switches,
// parts of that are left out as long as the finding comes again, and what is told is the finding of the last such run.
#pragma once

#include "check/one_recording.h"

namespace blackout {

// Of findings that a restart showed, and that came under another schedule than the usual one.
Result<void> shrinkSchedules(const CheckOptions& options, Judged& all);

}  // namespace blackout
