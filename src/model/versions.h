// The versions of one line: the down-sets of a partially ordered history and the contents that
// they give. docs/semantics.md, "What survives of a line". Knows neither traces nor points: it is
// handed the stores that may be missing and the content without them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/crash_state.h"
#include "model/histories.h"
#include "model/model_options.h"

namespace blackout {

// A store of a line's history.
struct LineStore {
  std::uint32_t number = 0;  // in the line's history, from 0
  StoreNo store = 0;
  StoreNo wide = 0;         // equal for the pieces of one wide store
  std::uint8_t offset = 0;  // in the line
  std::uint8_t size = 0;    // 1 to 8, or 16
  bool nt = false;
  std::uint64_t value[2] = {0, 0};
  std::uint64_t live = ~std::uint64_t{0};  // mask of the line's bytes that were not zeroed after it

  std::uint8_t units() const { return static_cast<std::uint8_t>((size == 16 ? 3U : 1U) << (offset / 8)); }
  void applyTo(LineBytes& bytes) const;
};

// Whether `earlier` must survive if `later` does, by a single step of the order.
bool ordered(const LineStore& earlier, const LineStore& later, const ModelOptions& options);

// A version with its content.
struct LineVersion {
  Version version;
  LineBytes bytes;
};

struct LineVersions {
  // One per distinct content, smallest down-set first: the first is the least version.
  std::vector<LineVersion> versions;
  std::uint64_t downSets = 0;
  // False if the enumeration was stopped at its limit (possible only with an `any` order).
  bool complete = true;
};

inline constexpr std::size_t kVersionLimit = 4096;

// `guaranteed` is the least version, `least` its content, `open` the line's other stores in trace
// order.
LineVersions enumerateVersions(const Version& guaranteed, const LineBytes& least, std::span<const LineStore> open,
                               const ModelOptions& options, std::size_t limit = kVersionLimit);

// log10 of the number of down-sets: exact, or above enumerateVersions' limit an upper bound.
double log10DownSets(std::span<const LineStore> open, const ModelOptions& options);

// The version whose stores are the true entries of `taken`.
Version versionOf(const std::vector<bool>& taken);

}  // namespace blackout
