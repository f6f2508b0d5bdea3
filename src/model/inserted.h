// Flushes and fences that a program did not make, put into its trace for an experiment: "would that have been enough?"
// They are told to the same persistency model as the trace's own events, so there is no second set of rules, and the
// trace keeps its numbers: an inserted flush comes with an event that is there, right after it or right before it.
#pragma once

#include <vector>

#include "model/index.h"

namespace blackout {

struct InsertedEvent {
  EventNo at = 0;       // of a store of two events the first
  bool before = false;  // it comes before that event; false: after it
  ThreadNo thread = 0;
  std::optional<LineNo> flush;  // this line; none: nothing
  bool fence = false;           // after the flush
  auto operator<=>(const InsertedEvent&) const = default;
};

// The index of the same trace by the same rules, with these events in it. Stores and lines keep their numbers: lines
// that are flushed must have been stored to, or flushed, before.
Result<Index> withInserted(const Index& index, std::vector<InsertedEvent> inserted);

}  // namespace blackout
