// How much of what the run stored restarts read at all. A clean result says nothing of bytes that no restart reads.
#pragma once

#include "detect/trusted.h"
#include "explore/explorer.h"
#include "model/index.h"

namespace blackout {

struct ReadCoverage {
  std::uint64_t stored = 0;  // bytes of the pools that the program stored to
  std::uint64_t read = 0;    // of them, by any restart
};

// `libraries`: what is stored inside their calls for their own purposes does not count, unless it is all that there is;
// null: there are none.
ReadCoverage readCoverage(const Explorer& explorer, const Index& recording, const TrackedBytes& tracked,
                          const Trusted* libraries);

}  // namespace blackout
