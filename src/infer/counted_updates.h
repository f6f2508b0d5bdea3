// Where a trace changes an array and its counter: the stores of one operation to one object, by which a property of the
// code (counting.h) becomes crash states. Objects that nothing leads to yet and updates that one transaction covers are
// left out: no crash parts them.
#pragma once

#include <vector>

#include "events/site.h"
#include "infer/counting.h"

namespace blackout {

struct CountedUpdate {
  std::size_t property = 0;    // its number
  EventNo counter = 0;         // the store to the counter
  std::vector<EventNo> array;  // the stores to the array, or to the pointer that leads to it; in order
  bool operator==(const CountedUpdate&) const = default;
};

// Those of the best properties first; of updates by the same instructions the first few.
std::vector<CountedUpdate> countedUpdates(const Trace& trace, const std::vector<CountingProperty>& properties);

}  // namespace blackout
