// The inside of Baseline: a position that moves forward over the points of a trace. A move costs in proportion to the
// stores that came or became guaranteed in between, not to the number of lines; it keeps for each
// line the content of its least version, so that the versions at the current point need only the
// stores that are not guaranteed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/index.h"

namespace blackout {

class Cursor {
 public:
  // At point 0. The index must outlive the cursor.
  explicit Cursor(const Index& index);

  EventNo at() const { return at_; }
  // Forward only.
  void moveTo(EventNo point);

  // Lines whose feasible versions the last move may have changed, ascending. Bytes of other lines change
  // only with the files themselves (Index::files).
  std::span<const LineNo> changed() const { return changed_; }
  // Lines with stores that are not guaranteed, ascending.
  std::vector<LineNo> openLines() const;
  // Lines with more than one version, ascending.
  std::vector<LineNo> uncertainLines() const;
  LineVersions versions(LineNo line, std::size_t limit = kVersionLimit) const;
  // The content of the line's least version.
  LineBytes least(LineNo line) const;

  // log10 of the number of states that eager enumeration (Yat) has at this point: the product over
  // all lines of the number of their down-sets.
  double log10States() const;

 private:
  struct LineState {
    LineBytes least;
    std::uint32_t length = 0;     // of the history
    std::uint32_t firstOpen = 0;  // all stores below this number are guaranteed
    std::uint32_t open = 0;       // how many are not
    std::int64_t states = 0;      // its share of states_
    bool started = false;
    bool changed = false;
    bool zeroed = false;  // bytes were zeroed under its stores: contents are worked out anew
  };

  LineState& touch(LineId id);
  Version leastVersion(LineId id) const;
  void settle(LineId id);

  const Index* index_;
  EventNo at_ = 0;
  StoreNo nextStore_ = 0;
  std::size_t nextGuarantee_ = 0;
  std::size_t nextZero_ = 0;
  IdVector<LineId, LineState> lines_;
  std::vector<LineId> touched_;
  std::vector<LineNo> changed_;
  // Unguaranteed lines as a list with positions, so that a line joins and leaves in one step.
  std::vector<LineId> open_;
  IdVector<LineId, std::uint32_t> openPlace_;
  // Zeroings of all files in trace order, and the lines with stores, ascending: only if there are any.
  std::vector<std::pair<EventNo, std::pair<LineNo, LineNo>>> zeros_;
  std::vector<LineNo> sortedLines_;
  // In units of 2^-32: sums and differences are exact, so the value does not depend on the way here.
  std::int64_t states_ = 0;
};

}  // namespace blackout
