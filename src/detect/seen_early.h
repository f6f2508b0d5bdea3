// Candidates for "visible but not durable", from one recording of a threaded program: stores to PM that another thread
// may read or replace before they are durable, whatever the order in which the recorded run happened to do it. None of
// them is a finding: a schedule and a crash must show it (check/candidates.h).
//
// A pair of a store and another thread's access to its bytes is none if
//  - both threads have a lock in common, the first one from the store until it is guaranteed, or
//  - the access always comes before the store, or after what made it durable: by the making and joining of threads, and
//    by what a thread waits for that another one gives it (a semaphore, a barrier). The order in which locks were taken
//    orders nothing here: another run may take them the other way round.
// Loads and all locks must have been recorded, with the threads under control.
#pragma once

#include <cstdint>
#include <vector>

#include "detect/trusted.h"
#include "model/index.h"

namespace blackout {

// Equal pairs of instructions are one, told by the pair that is easiest to show.
struct SeenEarly {
  EventNo store = 0;
  EventNo access = 0;
  ThreadNo storedBy = 0;
  ThreadNo accessedBy = 0;
  bool replaces = false;    // the access is a store
  bool seen = false;        // the recorded run did it: the access lies between the store and its guarantee
  std::uint64_t times = 0;  // pairs
};

// The most promising first: those that the recorded run did, then those whose access came later than the store, reads
// before stores, frequent ones before rare ones. `trusted`: stores inside its objects are left out; null: none are.
std::vector<SeenEarly> seenEarly(const Index& index, const Trusted* trusted = nullptr);

}  // namespace blackout
