// What one recording of a threaded program lets suspect (detect/seen_early.h), tried: the schedule of the recording up
// to the suspected store, which its thread stands still after; then the thread that may see it goes on, as long as it
// can. A crash while the first one stands still shows what comes of it, or the candidate is dropped. Only what a
// restart shows is told, and what does not come to its end.
#pragma once

#include "check/one_recording.h"

namespace blackout {

// By a recording under the schedule of the options.
Result<void> checkCandidates(CheckOptions options, Judged& all);

}  // namespace blackout
