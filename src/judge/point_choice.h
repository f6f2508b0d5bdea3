// Which points the plug is pulled at: those that are enough, all, a few, some ranges of the trace, the ones of
// some operations.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "detect/trusted.h"
#include "events/error.h"
#include "model/index.h"

namespace blackout {

struct PointChoice {
  enum Mode : std::uint8_t { Enough, All, Some, Ranges };
  Mode mode = Enough;
  std::uint64_t count = 0;                          // Some: evenly chosen
  std::vector<std::pair<EventNo, EventNo>> ranges;  // Ranges: of events, both ends belong to them
  std::optional<std::uint64_t> fromOp;              // operations, numbered from 0 in the order of their begins
  std::optional<std::uint64_t> toOp;
  // Calls into trusted objects have one point at most, before them; null: none are trusted. An event that is named as a
  // range of its own is a point even there.
  const Trusted* trusted = nullptr;
  // Whether neighbouring points have one ordering point, or call that orders, between them.
  bool neighbouring() const { return (mode == Enough || mode == All) && !fromOp && !toOp; }
  bool whole() const { return neighbouring() && trusted == nullptr; }
};

// "enough", "all", "20" or "100-200,512": what --points takes.
Result<PointChoice> parsePointChoice(std::string_view text);

// Ascending, each once. An error if an operation is named that the recording doesn't have.
Result<std::vector<EventNo>> choosePoints(const Index& index, const PointChoice& choice);

}  // namespace blackout
