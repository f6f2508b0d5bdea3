// The inside of crash spaces: the lines of the first crash, which all its spaces share, and the form in which a space
// is walked. Versions of a line are asked of the CrashSpace.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "explore/crash_space.h"

namespace blackout {

// The lines of the first crash: those of the baseline, enumerated when they are first asked for.
class FirstCrash {
 public:
  // The baseline must outlive it.
  explicit FirstCrash(const Baseline& baseline) : baseline_(&baseline), byRow_(baseline.rowCount()) {}

  const Baseline& baseline() const { return *baseline_; }
  const UncertainLine& line(RowNo row) const;
  const UncertainLine& line(PointNo pointNo, TrackedNo w) const;

 private:
  const Baseline* baseline_;
  // What was enumerated stays: the same row is asked for at many points.
  mutable IdVector<RowNo, std::unique_ptr<UncertainLine>> byRow_;
  mutable std::map<TrackedNo, UncertainLine> added_;  // lines that were tracked later
};

// A space laid out for walks: one cell per tracked line. Moving to another space costs in proportion to what changed
// between the two.
class SpaceMemory {
 public:
  explicit SpaceMemory(const FirstCrash& first) : first_(&first) {}

  // The space must live as long as it is the current one.
  void enter(const CrashSpace& space);
  // No space is current: the next one is laid out in full over the baseline.
  void leave();

  bool uncertain(TrackedNo w) const { return cells_[w].uncertain != 0; }
  // The content of the least version.
  const LineBytes& least(TrackedNo w) const { return *cells_[w].least; }
  const UncertainLine& line(TrackedNo w) const;
  // The replies to queries that are not about bytes, if the files are settled.
  std::uint64_t number(QueryKind kind, std::uint32_t subject, std::uint64_t question) const;
  std::size_t lines() const { return cells_.size(); }

 private:
  struct Cell {
    const LineBytes* least = nullptr;
    std::uint32_t uncertain = 0;  // 0: settled; a row of the baseline + 1; kChanged: the space's own
  };
  static constexpr std::uint32_t kChanged = UINT32_MAX;
  static constexpr PointNo kNowhere{UINT32_MAX};
  void setRow(RowNo r);
  void moveTo(PointNo pointNo);

  const FirstCrash* first_;
  const CrashSpace* space_ = nullptr;
  IdVector<TrackedNo, Cell> cells_;
  std::vector<TrackedNo> changed_;  // cells that are not the baseline's
  PointNo pointNo_ = kNowhere;
};

}  // namespace blackout
