// Tracked bytes (docs/design.md, "Recovery"): every byte that can differ between the crashes that are explored, and the
// pool paths and operations that a recovery may ask about. The same for all points; lines keep their
// numbers when a later level adds more.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/index.h"

namespace blackout {

// Number of a tracked line.
using TrackedNo = Id<struct TrackedNoTag, std::uint32_t>;

class TrackedBytes {
 public:
  // All bytes that the trace stores or zeroes, all paths that its files had, all its operations.
  static TrackedBytes of(const Index& index);

  // Adds bytes of a line (by mask); returns its number.
  TrackedNo add(LineNo line, std::uint64_t mask);
  void addRange(PmAddr addr, std::uint64_t size);
  // Adds what zeroings of a file can take away besides stores: content from before the recording.
  void addZeroed(const FileTimeline& files, FileNo f, std::span<const ZeroRange> zeroings);

  std::uint32_t count() const { return static_cast<std::uint32_t>(lines_.size()); }
  LineNo line(TrackedNo w) const { return lines_[w]; }
  std::uint64_t mask(TrackedNo w) const { return masks_[w]; }
  static constexpr TrackedNo kNone{UINT32_MAX};
  TrackedNo find(LineNo line) const;

  std::span<const std::string> paths() const { return paths_; }
  // How many.
  std::uint32_t operations() const { return operations_; }

 private:
  IdVector<TrackedNo, LineNo> lines_;
  IdVector<TrackedNo, std::uint64_t> masks_;
  std::unordered_map<LineNo, TrackedNo> numbers_;
  std::vector<std::string> paths_;  // ascending
  std::uint32_t operations_ = 0;    // how many
};

// The reply to a Path query: which file of the trace has the path, and its size.
struct PathState {
  FileNo file = 0;  // 0: none
  std::uint64_t size = 0;
  auto operator<=>(const PathState&) const = default;
};

// Room for files that recoveries make: how many, and how large.
inline constexpr std::uint32_t kMadeFiles = 4;
inline constexpr std::uint64_t kMadeFileSize = std::uint64_t{256} << 20;

// Number of a row of the baseline.
using RowNo = Id<struct RowNoTag, std::uint32_t>;
// Number of a point that is explored, in their order.
using PointNo = Id<struct PointNoTag, std::uint32_t>;

// The points that are explored, in order, with what is settled at each: the content of every tracked
// line's least version, the files, the operations. A point's number in this order is its pointNo.
//
// Kept as rows: one for a line and a stretch of point numbers in which nothing about the line changes. So what
// differs between two point numbers are the rows that begin between them, and memory grows with the changes, not with
// points times lines.
class Baseline {
 public:
  // `points` ascending, at least one. All must outlive it. Lines that are added to `tracked` later have the same
  // content at every point: nothing before the first crash stored to them.
  Baseline(const Index& index, const TrackedBytes& tracked, std::vector<EventNo> points);

  const Index& index() const { return *index_; }
  const TrackedBytes& tracked() const { return *tracked_; }
  std::uint32_t count() const { return static_cast<std::uint32_t>(points_.size()); }
  EventNo point(PointNo pointNo) const { return points_[pointNo]; }
  IdSpan<PointNo, const EventNo> points() const { return points_; }

  LineBytes least(PointNo pointNo, TrackedNo w) const;
  // Lines whose least content may differ between two point numbers, ascending, each once.
  std::vector<TrackedNo> changed(PointNo from, PointNo to) const;
  // Lines with more than one version at the point, ascending.
  std::vector<TrackedNo> uncertain(PointNo pointNo) const;
  LineVersions versions(PointNo pointNo, TrackedNo w) const;

  PathState pathState(PointNo pointNo, std::uint32_t path) const;
  // The size up to which a file can be tracked: the largest that it had in the recording, or for numbers above those of
  // the recording the room for files that recoveries make; 0: there is no such file.
  std::uint64_t largestFile(FileNo f) const;
  // 0: not begun, 1: begun, 2: ended.
  std::uint32_t opState(PointNo pointNo, OperationNo operation) const;

  // --- rows ---
  struct Row {
    TrackedNo line = 0;
    PointNo pointNo = 0;          // the first at which it holds
    RowNo previous = kNoRow;      // the line's row before it
    std::uint32_t content = 0;    // of the least version
    std::uint32_t firstOpen = 0;  // stores of the line below this number are guaranteed
    bool uncertain = false;
  };
  static constexpr RowNo kNoRow{UINT32_MAX};
  std::uint32_t rowCount() const { return static_cast<std::uint32_t>(rows_.size()); }
  const Row& row(RowNo r) const { return rows_[r]; }
  // Rows that begin at the pointNo: [firstRow(o), firstRow(o + 1)). At pointNo 0 all rowLines() lines have one.
  RowNo firstRow(PointNo pointNo) const { return firstRows_[pointNo]; }
  TrackedNo rowLines() const { return rowLines_; }
  // The row of a line below rowLines().
  RowNo rowAt(PointNo pointNo, TrackedNo w) const;
  const LineBytes& contentOf(RowNo r) const { return contents_[rows_[r].content]; }
  LineVersions versions(RowNo r) const;
  // The content with everything persisted.
  LineBytes newest(RowNo r) const;
  // What a line holds that was added later.
  LineBytes addedContent(TrackedNo w) const;

 private:
  void addRow(PointNo pointNo, TrackedNo w, const LineBytes& least, IdVector<TrackedNo, RowNo>& current);
  bool differs(LineId id, std::uint32_t firstOpen, EventNo at, const LineBytes& least) const;
  void findPaths();
  void findLargest();
  void findCheckpoints();

  const Index* index_;
  const TrackedBytes* tracked_;
  IdVector<PointNo, EventNo> points_;
  TrackedNo rowLines_;
  IdVector<RowNo, Row> rows_;  // by pointNo, then by line
  IdVector<PointNo, RowNo> firstRows_;
  std::vector<LineBytes> contents_;
  // The rows of line l, by pointNo: byLine_[lineRows_[l] .. lineRows_[l + 1]).
  std::vector<RowNo> byLine_;
  IdVector<TrackedNo, std::uint32_t> lineRows_;
  // Uncertain lines at some point numbers, so that those of any pointNo are near.
  struct Checkpoint {
    PointNo pointNo;
    std::vector<TrackedNo> lines;  // ascending
  };
  std::vector<Checkpoint> checkpoints_;
  struct PathRow {
    PointNo pointNo;
    PathState state;
  };
  std::vector<std::vector<PathRow>> paths_;  // by path
  IdVector<FileNo, std::uint64_t> largest_;
};

}  // namespace blackout
