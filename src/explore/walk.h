// Walks: the way of one recovery through the tree as seen from a crash space. A walk keeps for each uncertain line the
// versions that agree with everything observed so far, which is a set and no interval. Where several replies are
// possible it goes on with one of them and hands out the others as branches; it ends at a leaf or at an edge that leads
// nowhere yet: a run to make.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "explore/crash_space.h"
#include "explore/recovery_tree.h"
#include "explore/space_memory.h"
#include "explore/strategy.h"
#include "explore/whole_record.h"

namespace blackout {

// The pool files as the subject of a choice.
inline constexpr TrackedNo kPoolFiles{UINT32_MAX};

// A choice on the way of a walk: which versions of a line, or of the files, are left after it. Shared by all walks that
// made it.
struct Choice {
  std::shared_ptr<const Choice> before;
  NodeNo node = 0;
  TrackedNo line = 0;  // or kPoolFiles
  const UncertainLine* of = nullptr;
  std::vector<std::uint32_t> left;  // versions, ascending
  bool startsPieces = false;        // the pieces begin with this one

  Choice() = default;
  Choice(const Choice&) = delete;
  Choice& operator=(const Choice&) = delete;
  ~Choice();  // without recursion: the list may be long
};

// Where a walk stands. A plain value: it can be kept and gone on with.
struct WalkState {
  EdgeNo at = RecoveryTree::kRoot;
  std::shared_ptr<const Choice> choices;
  std::shared_ptr<const Restriction> restriction;
  // In records only this combination of lines is wanted; null: whatever a record allows.
  std::shared_ptr<const Combination> wanted;
  bool inPieces = false;  // the last choice was a piece, and nothing has ended the run of pieces since
  // If the last choice was not the first one: the edge of that, to compare what was asked next.
  EdgeNo sibling = kNoSibling;
  static constexpr EdgeNo kNoSibling{UINT32_MAX};
};

// What walks of a space have shown about its reads.
struct ReadsKnown {
  // Questions that are decisions: lines and masks.
  std::set<std::pair<TrackedNo, std::uint64_t>> decisions;
  // What looks like records and is not trusted whole: the pieces are explored like other reads.
  std::set<RecordKey> noRecords;
};

// A record of which not all combinations are tried, as one walk read it.
struct RecordRead {
  RecordKey record;
  NodeNo begins = 0;
  std::uint32_t lines = 0;
  double states = 0;
  std::uint64_t combination = 0;
  bool whole = false;      // all of it, or nothing
  std::uint64_t next = 0;  // what was asked after it, as a number
  // Of one that is not whole: its bytes that may be one thing or another, by line.
  std::vector<std::pair<TrackedNo, std::uint64_t>> bytes;
  // Of one that is summed, and somebody answers for it.
  std::vector<SummedLine> summed;
};

class Walk {
 public:
  // The memory must outlive it. `answeredSum`: as in ExploreOptions.
  Walk(SpaceMemory& memory, std::uint64_t seed, std::function<bool(std::uint64_t)> answeredSum)
      : memory_(&memory), seed_(seed), answeredSum_(std::move(answeredSum)) {}

  struct Found {
    std::vector<WalkState> branches;
    std::set<RecordKey> leftOut;  // records of which branches were not handed out
    std::vector<RecordRead> records;
    std::vector<TrackedNo> cut;  // observed lines with more versions than are enumerated
    // That showed on the way.
    std::set<std::pair<TrackedNo, std::uint64_t>> decisions;
  };
  // Goes on to a leaf or to an edge that leads nowhere; `state` stands there then.
  Target advance(RecoveryTree& tree, const CrashSpace& space, const ReadsKnown& known, WalkState& state, Found& found);

  // The memory of a run that takes the state's edge: the lines that differ from the baseline's least version.
  std::vector<std::pair<TrackedNo, LineBytes>> memoryOf(const RecoveryTree& tree, const CrashSpace& space,
                                                        const WalkState& state);

  // The version of the files of such a run.
  static std::uint32_t filesOf(const CrashSpace& space, const WalkState& state);

  // Queries that were answered from trees so far.
  std::uint64_t steps() const { return steps_; }

 private:
  struct Touched {
    TrackedNo line = 0;
    const UncertainLine* of = nullptr;
    std::vector<std::uint32_t> left;
  };
  void load(const RecoveryTree& tree, const CrashSpace& space, const WalkState& state);
  void unload();
  Touched& touch(TrackedNo w, const Restriction& restriction);
  void partition(const RecoveryTree& tree, NodeNo n, const Touched& line);
  void seeRecord(RecoveryTree& tree, const WalkState& state);
  void follow(RecoveryTree& tree, Target next, WalkState& state, Found& found);
  void observe(RecoveryTree& tree, NodeNo n, const ReadsKnown& known, WalkState& state, Found& found);

  void observeFiles(RecoveryTree& tree, NodeNo n, const CrashSpace& space, WalkState& state, Found& found);

  void beginRecord(const RecoveryTree& tree, NodeNo n);

  SpaceMemory* memory_;
  std::uint64_t seed_;
  std::function<bool(std::uint64_t)> answeredSum_;
  std::uint64_t steps_ = 0;
  // The walk that is loaded:
  std::uint64_t spaceSeed_ = 0;
  std::vector<Touched> touched_;
  IdVector<TrackedNo, std::uint32_t> places_;  // place in touched_ + 1, or 0
  WholeRecord record_;
  std::vector<std::vector<std::uint32_t>> classes_;  // scratch: of one observation
  std::size_t classCount_ = 0;
};

// The versions of a line, and of the files, that a restriction allows at first.
std::vector<std::uint32_t> allowedVersions(const Restriction& restriction, TrackedNo w, const UncertainLine& line);
std::vector<std::uint32_t> allowedVersions(const Restriction& restriction, const UncertainFiles& files);

}  // namespace blackout
