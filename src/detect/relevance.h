// What a detector must keep silent about: events outside the region of interest, and memory whose
// state can't matter because it was freed, marked as such, cut off or zeroed, or its file removed.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/index.h"
#include "model/interest.h"

namespace blackout {

class Relevance {
 public:
  explicit Relevance(const Index& index);

  // Bytes of the line, as a mask, whose content from event `after` does not matter at event `at`: ignored
  // at any time, or discarded or zeroed in between. All of them if the file is gone at the end.
  std::uint64_t irrelevant(LineNo line, EventNo after, EventNo at) const;

 private:
  struct Range {
    EventNo at;
    PmAddr begin;
    PmAddr end;
  };
  struct LineMark {
    EventNo at;
    std::uint64_t mask;
  };
  void discard(const Range& range);

  const Index* index_;
  std::vector<Range> ignored_;
  // Frees are many and small: by line. The few large ones apart, so that a line has no entry per pool.
  std::map<LineNo, std::vector<LineMark>> discarded_;
  std::vector<Range> largeDiscards_;
};

}  // namespace blackout
