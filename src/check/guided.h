// A check of a harness of <blackout/lin.hpp> with more than one list of operations: those that its generator makes, and
// those that reach what they don't (check/guidance.h), found by runs without a crash and kept in a folder between
// checks. Each is recorded and judged by itself, and there is one report of all.
#pragma once

#include "check/one_recording.h"

namespace blackout {

Result<void> checkGuided(CheckOptions options, Judged& all);

}  // namespace blackout
