// A check of a harness of <blackout/lin.hpp> with more than one list of operations: the first that its generator makes,
// all that are in a folder, and those that reach what these don't (check/guidance.h), found by runs without a crash and
// kept in the folder. Each is recorded and judged by itself, and there is one report of all. A list that kills the
// harness without any crash makes the result inconclusive, be it the first or another one.
#pragma once

#include "check/one_recording.h"

namespace blackout {

Result<void> checkGuided(CheckOptions options, Judged& all);

}  // namespace blackout
