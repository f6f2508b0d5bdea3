// Which events of a trace a reader wants to see: what `blackout trace` takes as options, resolved
// against the trace once so that asking for each event is cheap.
#pragma once

#include <bitset>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "events/error.h"
#include "events/site.h"

namespace blackout {

// As the user wrote it.
struct TraceFilterText {
  std::vector<std::string> kinds;     // of events ("store", "clwb") or of groups ("stores", "flushes")
  std::vector<std::string> threads;   // numbers
  std::vector<std::string> files;     // a pool's number, path or the end of its path
  std::vector<std::string> at;        // FILE:LINE of the source
  std::vector<std::string> lines;     // [FILE-NUMBER:]OFFSET, any byte of the 64-byte line
  std::optional<std::uint32_t> from;  // event numbers
  std::optional<std::uint32_t> to;    // not included
};

// The bytes of PM that an event is about; nothing for one that is about none.
std::optional<PmRange> rangeOf(const Trace& trace, EventNo n);

class TraceFilter {
 public:
  static Result<TraceFilter> make(const Trace& trace, const TraceFilterText& text);

  bool wants(const Trace& trace, EventNo n) const;

 private:
  struct LineWanted {
    std::optional<FileNo> file;
    std::uint64_t offset = 0;  // of the line's first byte
  };
  bool wantsRange(const Trace& trace, EventNo n) const;

  std::bitset<256> kinds_;
  std::set<ThreadNo> threads_;
  std::set<FileNo> files_;
  std::vector<LineWanted> lines_;
  std::optional<IdVector<StackId, bool>> callStacks_;  // if places were asked for
  EventNo from_ = 0;
  EventNo to_{UINT32_MAX};
};

}  // namespace blackout
