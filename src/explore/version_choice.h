// A version of a line chosen by which stores it has: what the states around a store, an update or a plan are made of.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "explore/crash_space.h"

namespace blackout {

// What a version holds beside the stores that it was chosen by.
enum class OtherStores : std::uint8_t { Most, Fewest };

// Of the versions that have all of `kept` and none of `lost` (places in the line's history) the one with the most, or
// the fewest, other stores; of several the first. None: there is no such version.
std::optional<std::uint32_t> versionWith(const UncertainLine& line, const std::vector<std::uint32_t>& kept,
                                         const std::vector<std::uint32_t>& lost, OtherStores others);

}  // namespace blackout
