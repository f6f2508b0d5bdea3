// Combinations of a record's lines that a weak checksum takes for the whole record, or for nothing of it: found by
// arithmetic, where a sample would hardly meet them. The record is one that is summed word by word, as PMDK's libraries
// do (Fletcher's sum of 32-bit words: a sum of the words and a sum of those sums). For each way in which the check may
// be weaker than it looks there is one combination, if a crash may leave any: both sums alike, which deceives
// Fletcher's itself; the first alone, all of it or its lower bits; and the words xored.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "explore/crash_space.h"
#include "model/tracked_bytes.h"

namespace blackout {

// Records with more combinations are not searched.
inline constexpr std::uint64_t kMostCombinations = 65536;

// An uncertain line of a summed record.
struct SummedLine {
  TrackedNo line = 0;
  const UncertainLine* of = nullptr;
  std::vector<std::uint32_t> versions;  // that were left when it was read
  std::uint32_t oldest = 0;             // of them
  std::uint32_t newest = 0;
  std::uint64_t mask = 0;  // bytes that went into the sum
};

// A version for each of the lines.
using Combination = std::map<TrackedNo, std::uint32_t>;

// None if there are too many to look at.
std::vector<Combination> deceivingCombinations(const std::vector<SummedLine>& lines, const TrackedBytes& tracked);

}  // namespace blackout
