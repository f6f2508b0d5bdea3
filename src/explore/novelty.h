// What is new comes first: the order of crash points for an exploration that has a bound. A bug that needs two thousand
// inserts before a table grows must not wait for two thousand ordinary ones, so points at which something happens for
// the first time, by the places of stores with their callers, come before points that repeat what was there, and of
// those the ones that repeat it for the second time before those of the hundredth.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "model/tracked_bytes.h"

namespace blackout {

// All points of the baseline.
std::vector<PointNo> newestFirst(const Baseline& baseline);

// Ways to a store or fence: places with their callers.
struct Ways {
  std::size_t all = 0;
  std::size_t crashed = 0;  // right behind which there was a crash at a point that `explored` knows
};
Ways waysOf(const Baseline& baseline, const std::function<bool(PointNo)>& explored);

}  // namespace blackout
