// What a report shows of a recorded run beside its findings: the events around them, the operations that were under
// way, and what a crash could have left just before some of the points near them. A part of the trace and of its index
// as plain values, so that a reader sees it without the trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "binary/frame.h"
#include "events/site.h"
#include "events/value.h"

namespace blackout {

struct SeenEvent {
  EventNo event = 0;
  ThreadNo thread = 0;
  std::string kind;           // as `blackout trace` calls it
  std::string what;           // "List.head = 8256", in the program's own words where they are known
  std::uint32_t at = 0;       // the number of its line in `SeenTrace::places`, from 1; 0: unknown
  std::uint64_t skipped = 0;  // events between it and the one before it in the list, which are left out
  bool operator==(const SeenEvent&) const = default;
};

// An operation that the program marked.
struct SeenOperation {
  ThreadNo thread = 0;
  std::string name;
  Values arguments;
  std::optional<Values> results;  // none: it did not end
  EventNo begin = 0;
  std::optional<EventNo> end;
  std::uint32_t depth = 0;  // how many it lies in
  bool operator==(const SeenOperation&) const = default;
};

// A cache line just before a point: `guaranteed` of its stores survive any crash there, each of `open` may be lost.or
// those are not all that do; each of `open` may be lost.
struct SeenLine {
  std::string file;  // path of the pool
  std::uint64_t offset = 0;
  std::uint64_t stores = 0;      // so far
  std::uint64_t guaranteed = 0;  // of them
  std::vector<EventNo> open;     // the stores that are not, in their order; of many the first
  std::uint64_t sets = 1;        // in how many ways a crash may leave the line's stores
  bool all = true;               // there are no more than `sets`
  bool operator==(const SeenLine&) const = default;
};

// What a crash just before the event may leave.
struct SeenPoint {
  EventNo event = 0;
  std::uint64_t uncertain = 0;  // lines with a store that may be lost
  double log10Sets = 0;         // of all lines together
  // Those that findings near it name, and of the other ones that are uncertain the first.
  std::vector<SeenLine> lines;
  bool operator==(const SeenPoint&) const = default;
};

struct SeenTrace {
  std::uint64_t total = 0;        // events of the run
  std::vector<SeenEvent> events;  // ascending
  std::vector<Frame> places;
  std::vector<SeenOperation> operations;  // that overlap with the events, by their begins
  std::vector<SeenPoint> points;          // ascending
  bool operator==(const SeenTrace&) const = default;
};

}  // namespace blackout
