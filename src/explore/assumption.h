// What an exploration took for granted, and what was too much for it: data for the verdict.
#pragma once

#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

#include "explore/ids.h"
#include "model/tracked_bytes.h"

namespace blackout {

// Who reads a record whole.
enum class RecordReader : std::uint8_t {
  Instruction,  // one instruction, again and again
  Summing,      // the same, for whose sum somebody answers (ExploreOptions::answeredSum)
  Call,         // one mem* call
  Declared,     // whatever reads what the program called a checksummed record (blackout_checksum)
};

struct RecordKey {
  std::uint64_t site = 0;
  RecordReader reader{};
  auto operator<=>(const RecordKey&) const = default;
};

// A restart that read such a record neither whole nor not at all.
struct RecordExample {
  SpaceNo space = 0;
  RecoveryNo recovery = 0;
  std::vector<std::pair<TrackedNo, std::uint64_t>> bytes;  // of the record, that may be one thing or another: masks
  auto operator<=>(const RecordExample&) const = default;
};

// A record of which only a part of the combinations was explored, because of those that were tried only the whole
// record counted; or because the program says that it is checksummed.
struct ChecksumAssumption {
  RecordKey record;
  std::uint32_t lines = 0;              // the most uncertain lines that one such record had
  std::uint64_t spaces = 0;             // crashes at which something was left out
  double states = 0;                    // at the one with the most: combinations of the lines' versions,
  std::uint64_t tried = 0;              // and how many of them were tried
  bool refuted = false;                 // they did not go on alike, and it is assumed because the options say so
  std::vector<RecordExample> examples;  // of each crash and record of which something was left out
  auto operator<=>(const ChecksumAssumption&) const = default;
};

// A crash with more recoveries than are explored: its reads with the most choices.
struct Explosion {
  SpaceNo space = 0;
  std::uint64_t site = 0;   // of the instruction that read the most uncertain lines
  std::uint32_t lines = 0;  // how many these are
  std::uint64_t tried = 0;  // recoveries that were explored all the same
};

}  // namespace blackout
