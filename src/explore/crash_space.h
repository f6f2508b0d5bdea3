// What one crash may leave: a base content for every tracked line, for the uncertain lines the versions they may
// have, and the versions of the pool files. The first crash's spaces are the points of the baseline; a further crash
// changes some lines of the space before it. Strategies and results know only this, and walks the same in another form
// (space_memory.h).
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

class FirstCrash;

class CrashSpace {
 public:
  CrashSpace(const FirstCrash& first, PointNo pointNo);
  // A further crash: `changed` and `files` differ from the space before it; no files: they are the same. `identity`
  // tells it from others after the same space.
  CrashSpace(std::shared_ptr<const CrashSpace> before, std::map<TrackedNo, UncertainLine> changed,
             std::optional<UncertainFiles> files, std::uint64_t identity);

  PointNo pointNo() const { return pointNo_; }
  const Baseline& baseline() const;
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
  PointNo pointNo_;
  std::uint64_t identity_;
  std::shared_ptr<const CrashSpace> before_;
  std::map<TrackedNo, UncertainLine> changed_;
  std::map<TrackedNo, const UncertainLine*> all_;
  std::optional<UncertainFiles> files_;
  bool changedFiles_ = false;
  mutable std::vector<TrackedNo> uncertain_;
  mutable bool listed_ = false;
};

// What is at the path, if these are the files.
PathState pathState(const std::vector<FileState>& files, const std::string& path);

// The reply to a Path query as one number.
constexpr std::uint64_t replyOf(const PathState& s) { return std::uint64_t{s.file.value()} << 41 | s.size; }

}  // namespace blackout
