// Crash states as plain values: a point, for some of the uncertain lines which of their stores survived, which of the
// changes of the pool files did, and what everything else holds. docs/design.md, "The one idea".
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "events/event.h"

namespace blackout {

inline constexpr EventNo kNever{UINT32_MAX};

using LineBytes = std::array<std::byte, BLACKOUT_LINE>;

// A down-set of a history, a line's or that of the pool files: its first `prefix` entries and those with the numbers
// in `extra`. Entries (stores, or changes of files) are numbered from 0 in their history. The prefix is the longest
// one, so equal down-sets are equal values; `extra` is ascending and begins above `prefix`.
struct Version {
  std::uint32_t prefix = 0;
  std::vector<std::uint32_t> extra;
  auto operator<=>(const Version&) const = default;

  bool contains(std::uint32_t store) const;
  std::size_t size() const { return prefix + extra.size(); }
};

// What lines hold that a crash state does not name, and the pool files if it does not name them.
enum class UnnamedLines : std::uint8_t {
  Least,   // nothing more than guaranteed
  Newest,  // everything that was stored or changed
};

// One crash: just before event `at`. What unnamed lines hold is always said: findings are told as what is missing
// from everything, recoveries as what they need beyond nothing, and an empty map means either.
struct CrashLevel {
  CrashLevel(EventNo at, UnnamedLines unnamed, std::map<LineNo, Version> persisted = {})
      : at(at), unnamed(unnamed), persisted(std::move(persisted)) {}

  EventNo at;
  UnnamedLines unnamed;
  std::map<LineNo, Version> persisted;
  std::optional<Version> files;  // of FileTimeline::changes
  auto operator<=>(const CrashLevel&) const = default;
};

// One level per crash: the first in the program's trace, each further one in the trace of
// the recovery that ran on what the one before it left.
using CrashState = std::vector<CrashLevel>;

// An aligned word that is put over what a crash left: part of an experiment, never of a crash state.
struct ReplacedWord {
  PmAddr at = 0;
  std::uint64_t value = 0;
  bool operator==(const ReplacedWord&) const = default;
};

}  // namespace blackout
