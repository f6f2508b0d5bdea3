// The same program under several schedules of its threads: a recording of each, judged by itself. Schedules under which
// the program did the same are one. They are chosen by a seed; or they are all that take the turn from a thread that
// could go on at most so many times, fewer first.
#pragma once

#include "check/one_recording.h"

namespace blackout {

Result<void> checkSchedules(CheckOptions options, Judged& all);

}  // namespace blackout
