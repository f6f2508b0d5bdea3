// Counts events of a trace by a key, for `blackout trace --count-by`.
#pragma once

#include <string>
#include <vector>

#include "report/trace_filter.h"

namespace blackout {

enum class CountBy : std::uint8_t { Place, Site, Line, Operation, Kind, Thread, File };
std::optional<CountBy> countByNamed(std::string_view name);
// "place, site, line ...", for help and complaints.
std::string countByNames();

struct CountRow {
  std::string key;
  std::uint64_t count = 0;
  bool operator==(const CountRow&) const = default;
};

// The most frequent first, equals in order of their key. An event that touches several lines
// counts for each of them; one without the key ("no operation", "no place") has a row of its own.
std::vector<CountRow> countEvents(const Trace& trace, const TraceFilter& filter, CountBy by);

}  // namespace blackout
