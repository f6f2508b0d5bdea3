// What one crash may leave: a base content for every tracked line, for the uncertain lines the versions they may
// have, and the versions of the pool files. The first crash's spaces are the points of the baseline; a further crash
// changes some lines of the space before it. Strategies, walks and results know only this.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "model/tracked_bytes.h"
#include "run/run.h"

namespace blackout {

struct SpaceVersion {
  LineBytes bytes{};
  Version version;           // which of the stores of the crash's own trace survived
  std::uint32_t parent = 0;  // a further crash: which version the crash before had left, its number there
};

// A line of a space. If it is settled, it has one version.
struct UncertainLine {
  std::vector<SpaceVersion> versions;  // distinct contents; the first is the least
  std::uint32_t newest = 0;            // the one with everything persisted
  bool complete = true;                // false: it has more versions than the model enumerates
};

// The pool files of a space. If they are settled, they have one version.
struct SpaceFiles {
  std::vector<FileState> files;  // that exist, ascending by number
  Version version;               // which of the changes of the crash's own trace survived
  std::uint32_t parent = 0;      // a further crash: which version the crash before had left, its number there
};
struct UncertainFiles {
  std::vector<SpaceFiles> versions;  // distinct; the first is the least
  std::uint32_t newest = 0;
  bool complete = true;
};

// The lines of the first crash: those of the baseline, enumerated when they are first asked for.
class FirstCrash {
 public:
  // The baseline must outlive it.
  explicit FirstCrash(const Baseline& baseline) : baseline_(&baseline), byRow_(baseline.rowCount()) {}

  const Baseline& baseline() const { return *baseline_; }
  const UncertainLine& line(RowNo row) const;
  const UncertainLine& line(std::uint32_t pointNo, TrackedNo w) const;

 private:
  const Baseline* baseline_;
  // What was enumerated stays: the same row is asked for at many points.
  mutable std::vector<std::unique_ptr<UncertainLine>> byRow_;
  mutable std::map<TrackedNo, UncertainLine> added_;  // lines that were tracked later
};

class CrashSpace {
 public:
  CrashSpace(const FirstCrash& first, std::uint32_t pointNo);
  // A further crash: `changed` and `files` differ from the space before it; no files: they are the same. `identity`
  // tells it from others after the same space.
  CrashSpace(std::shared_ptr<const CrashSpace> before, std::map<TrackedNo, UncertainLine> changed,
             std::optional<UncertainFiles> files, std::uint64_t identity);

  std::uint32_t pointNo() const { return pointNo_; }
  const FirstCrash& first() const { return *first_; }
  const CrashSpace* before() const { return before_.get(); }

  // By TrackedNo; a settled line has one version.
  const UncertainLine& line(TrackedNo w) const;
  // Lines with more than one version, ascending.
  const std::vector<TrackedNo>& uncertain() const;
  // What this crash changed of the space before it, and what all further crashes together changed of the first.
  const std::map<TrackedNo, UncertainLine>& changed() const { return changed_; }
  const std::map<TrackedNo, const UncertainLine*>& changedSinceFirst() const { return all_; }

  // The versions of the files.
  UncertainFiles files() const;
  // Null: the baseline has them, and they are settled.
  const UncertainFiles* ownFiles() const { return files_ ? &*files_ : nullptr; }
  bool uncertainFiles() const { return files_ && files_->versions.size() > 1; }
  // Whether this crash changed them or what is known of them, so that the space before has others.
  bool changedFiles() const { return changedFiles_; }
  // As a request has them: none if they are the baseline's.
  std::optional<std::vector<FileState>> requestFiles(std::uint32_t version) const;

  // What samples are drawn by: the same for the same crash in every exploration.
  std::uint64_t identity() const { return identity_; }
  // log10 of the number of distinct states; and the number, UINT64_MAX if it does not fit.
  double log10States() const;
  std::uint64_t states() const;

 private:
  const FirstCrash* first_;
  std::uint32_t pointNo_;
  std::uint64_t identity_;
  std::shared_ptr<const CrashSpace> before_;
  std::map<TrackedNo, UncertainLine> changed_;
  std::map<TrackedNo, const UncertainLine*> all_;
  std::optional<UncertainFiles> files_;
  bool changedFiles_ = false;
  mutable std::vector<TrackedNo> uncertain_;
  mutable bool listed_ = false;
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
  TrackedNo lines() const { return static_cast<TrackedNo>(cells_.size()); }

 private:
  struct Cell {
    const LineBytes* least = nullptr;
    std::uint32_t uncertain = 0;  // 0: settled; a row of the baseline + 1; kChanged: the space's own
  };
  static constexpr std::uint32_t kChanged = UINT32_MAX;
  void setRow(RowNo r);
  void moveTo(std::uint32_t pointNo);

  const FirstCrash* first_;
  const CrashSpace* space_ = nullptr;
  std::vector<Cell> cells_;
  std::vector<TrackedNo> changed_;  // cells that are not the baseline's
  std::uint32_t pointNo_ = UINT32_MAX;
};

// What is at the path, if these are the files.
PathState pathState(const std::vector<FileState>& files, const std::string& path);

// The reply to a Path query as one number.
constexpr std::uint64_t replyOf(const PathState& s) { return std::uint64_t{s.file} << 41 | s.size; }

}  // namespace blackout
