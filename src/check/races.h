// Directed tests of two operations at the same time (Durinn, section 5.3.3; "visible but not durable"). A harness of
// <blackout/lin.hpp> makes its operations one after the other up to one of them, which runs in a thread of its own:
// that is stopped right after one of its stores to PM, and another operation on the same key, in another thread, runs
// to its end, seeing what a crash may still take back. Then all crash states of that run are judged. Where the second
// operation waits for the first one (a lock), there is no such run: it is counted, and is no finding. A run that dies
// or comes into a deadlock is judged as any other, and makes the result inconclusive.
//
// Which stores: each place in the source once or twice for each pair of operations, not each time it comes by.
#pragma once

#include "check/one_recording.h"

namespace blackout {

// `alone` is the trace of the same operations in one thread.
Result<void> checkRaces(CheckOptions options, const std::string& alone, Judged& all);

}  // namespace blackout
