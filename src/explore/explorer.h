// The exploration: over all points of a baseline (and, for several crashes in a row, over all points of
// the recoveries) it makes each distinct recovery run once and says which of them every crash can lead to.
// What a crash may leave is a CrashSpace; a Strategy restricts it; a Walk finds in the recovery tree
// which runs are known and which are missing; a Runner makes those, several at a time. Results do not depend on
// the number of workers nor on the order in which they finish.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "explore/adversary.h"
#include "explore/assumption.h"
#include "explore/crash_space.h"
#include "explore/ids.h"
#include "explore/strategies.h"
#include "model/tracked_bytes.h"
#include "run/run.h"

namespace blackout {

struct Progress {
  unsigned level = 1;  // which crash: 1 is the one in the program
  std::uint64_t spacesDone = 0;
  std::uint64_t spaces = 0;  // of this level
  std::uint64_t runs = 0;    // of all levels
  double seconds = 0;
  double runsPerSecond = 0;
  std::vector<const Outcome*> newOutcomes;  // that were seen first since the last report
};

struct ExploreOptions {
  std::shared_ptr<const Strategy> strategy;  // null: lazy
  bool tree = true;                          // false: each space is explored on its own
  unsigned crashesInARow = 1;
  // Of the first crash: states that are looked at before all others. Then their points are explored, then the others.
  std::vector<AdversarialTest> first;
  std::vector<OneSidedTest> oneSided;  // and these before them
  std::uint64_t seed = 1;              // of the samples that stand for what is not explored
  std::uint64_t budget = 4096;         // recoveries at one space; past it only a part is explored
  bool assumeChecksums = false;        // what is read whole is taken for checksummed, whatever combinations of it do
  // Whether the instruction of this site adds up what it reads and somebody answers for the sum: fewer combinations of
  // its records are tried. Always the same of one site. Null: nobody does.
  std::function<bool(std::uint64_t site)> answeredSum;
  std::uint64_t maxRuns = 0;  // 0: no bound
  double seconds = 0;         // 0: no bound
  const std::atomic<bool>* interrupt = nullptr;
  std::function<void(const Progress&)> progress;  // at most four times a second
  // More bytes are tracked (TrackedBytes::add); the runner must know before the next run. Needed for crashesInARow > 1.
  std::function<Result<void>()> trackedGrew;
  std::string resume;  // a file that an earlier exploration saved, to go on from; empty: none
  // Says which exploration a saved file belongs to, beyond what is tracked: the command, the options.
  std::uint64_t identity = 0;
};

// A read across the failure (XFDetector, equation 1): a restart reads bytes that are one thing or another, because
// nothing had made their last stores durable. One instruction on one piece of memory, over all crashes.
struct RacedRead {
  std::uint64_t site = 0;
  TrackedNo line = 0;
  std::uint64_t mask = 0;
  SpaceNo space = 0;         // the first crash after which it comes
  std::uint64_t spaces = 0;  // how many there are
  auto operator<=>(const RacedRead&) const = default;
};

// Two runs that asked different things after the same replies.
struct Divergence {
  SpaceNo space = 0;
  std::size_t at = 0;           // how many queries agreed
  std::optional<Query> before;  // none: it ended there
  std::optional<Query> now;
  bool outcome = false;          // the queries agree, the outcomes do not
  std::uint32_t usedBefore = 0;  // kUsed* bits
  std::uint32_t usedNow = 0;
};

enum class Stop : std::uint8_t { Finished, MaxRuns, Seconds, Interrupted };

struct ExplorationSummary {
  Stop stop = Stop::Finished;
  unsigned levels = 0;               // crashes in a row that were begun
  std::uint64_t spaces = 0;          // of the levels that were begun
  std::uint64_t completeSpaces = 0;  // every recovery that the strategy asks for is there
  std::uint64_t points = 0;          // of the first crash
  std::uint64_t completePoints = 0;
  std::uint64_t runs = 0;               // recoveries that were run, those of a loaded file included
  std::uint64_t newRuns = 0;            // without those
  std::uint64_t runsPerSpaceAlone = 0;  // what one exploration per space would have run: recoveries, summed over spaces
  std::uint64_t mostAtOneSpace = 0;     // recoveries
  std::uint64_t outcomes = 0;           // distinct
  std::uint64_t queries = 0;            // of all runs
  std::uint64_t walkedQueries = 0;      // answered from the tree
  std::uint64_t incompleteTests = 0, unrecoveredTests = 0;  // of ExploreOptions::first, those that there are states for
  std::uint64_t oneSidedTests = 0;                          // the same of ExploreOptions::oneSided
  double log10EagerStates = 0;  // what eager enumeration has at the points of the first crash
  // For strategies that choose states: how many, of how many (log10) distinct states.
  std::uint64_t statesTried = 0;
  double log10States = 0;
  // What was left out. The first does not make the result incomplete, the others do.
  std::vector<ChecksumAssumption> assumptions;  // by record
  std::vector<RacedRead> races;                 // by site, line and mask; says nothing about what is complete
  std::uint64_t overBudget = 0;                 // spaces explored in part because they have too many recoveries
  std::optional<Explosion> explosion;           // the one of them with the most lines
  std::uint64_t cutLines = 0;                   // lines at points with more versions than the model enumerates
  std::uint64_t fileChangePoints =
      0;                       // crashes in a recovery that had made files which can't be given to a run: not explored
  std::uint64_t diverged = 0;  // runs that did not follow what earlier runs had shown
  std::optional<Divergence> divergence;  // the first of them
  std::vector<std::string> notes;        // of all runs, each once, ascending
  std::vector<std::string> unseen;       // the same: what could not be observed
  double seconds = 0;

  bool complete() const {
    return stop == Stop::Finished && overBudget == 0 && cutLines == 0 && fileChangePoints == 0 && diverged == 0;
  }
};

// A crash that was explored, and the recoveries that it can lead to.
struct SpaceInfo {
  unsigned level = 1;
  PointNo pointNo = 0;     // of the first crash
  EventNo at = 0;          // in the program's trace, or for a further crash in that of the recovery `through`
  SpaceNo parent = 0;      // further crashes: the space of the crash before
  RecoveryNo through = 0;  // and the recovery in which this one comes
  bool complete = false;
  std::vector<RecoveryNo> recoveries;  // in canonical order: fewest departures from the least versions first
};

// One state of a space in short: versions of some of its uncertain lines and perhaps of the pool files, as numbers in
// UncertainLine::versions and UncertainFiles::versions, and what everything else holds. Explorer::crashState tells it
// in full.
struct ChosenVersions {
  explicit ChosenVersions(UnnamedLines unnamed, std::map<TrackedNo, std::uint32_t> versions = {})
      : unnamed(unnamed), versions(std::move(versions)) {}

  UnnamedLines unnamed;
  std::map<TrackedNo, std::uint32_t> versions;
  std::optional<std::uint32_t> files;
  bool operator==(const ChosenVersions&) const = default;
};

// One observation of a recovery, as it looks from a space.
struct Observation {
  Query query;                // where and event are 0
  std::uint32_t classes = 1;  // how many different replies were possible here; 1: settled
  std::uint32_t taken = 0;    // which, in the order of their first versions
  std::uint32_t version = 0;  // the first version of that class; of an uncertain line, or of uncertain files
  bool uncertain = false;     // of an uncertain line (that may be settled by what was observed before)
};

struct RecoveryDetail {
  OutcomeNo outcome = 0;
  std::vector<Observation> observations;
  // For each uncertain line that it read, and for uncertain files that it asked for, the first version that leads here.
  // The others don't matter to it.
  ChosenVersions example{UnnamedLines::Least};
};

// What a recovery was told, whatever space leads to it: of each line the bytes that it read, and the numbers that it
// got about operations and paths.
struct ToldLine {
  TrackedNo line = 0;
  std::uint64_t mask = 0;
  LineBytes bytes{};  // zero outside the mask
};
struct Told {
  std::vector<ToldLine> lines;                           // ascending by line
  std::vector<std::pair<Query, std::uint64_t>> numbers;  // questions that are not about bytes, with their replies
};

// A store, by the crash in whose trace it stands: 1 is the program's trace, 2 that of the recovery after the first
// crash. kNoStore: the content from before the recording.
struct StoreRef {
  unsigned level = 1;
  StoreNo store = kNoStore;
  auto operator<=>(const StoreRef&) const = default;
};

// An exploration that is over, with the runner at hand for single states that are asked for afterwards. There is none
// that is not: so whoever holds one has the runner to himself.
class Explorer {
 public:
  // Runs until everything is explored or a bound is reached. All arguments must outlive the result. `baseline` is over
  // `tracked`, which grows with every further failure. An error if the strategy refuses, the file to go on from is of
  // another exploration, or the runner fails.
  static Result<std::unique_ptr<Explorer>> explore(TrackedBytes& tracked, const Baseline& baseline, Runner& runner,
                                                   ExploreOptions options);
  ~Explorer();
  Explorer(const Explorer&) = delete;
  Explorer& operator=(const Explorer&) = delete;

  // The stage at which the state was met first; None: ExploreOptions::first was empty.
  TestStage stageOf(SpaceNo s, RecoveryNo recovery) const;

  // All runs so far, for a later exploration that goes on from them.
  Result<void> save(const std::string& path) const;

  const ExplorationSummary& summary() const;
  std::uint32_t spaceCount() const;
  const SpaceInfo& space(SpaceNo s) const;
  OutcomeNo outcomeNo(RecoveryNo recovery) const;
  std::uint32_t outcomeCount() const;
  const Outcome& outcome(OutcomeNo o) const;
  std::uint32_t used(RecoveryNo recovery) const;  // kUsed* bits
  // The bytes of tracked lines that recoveries read, of all that spaces lead to.
  std::map<TrackedNo, std::uint64_t> readBytes() const;
  // Whether any recovery that a space leads to marks a region of interest of its own (for judgedRead).
  bool postRegions() const;

  // `recovery` is one that the space can lead to.
  RecoveryDetail detail(SpaceNo s, RecoveryNo recovery) const;
  Told told(RecoveryNo recovery) const;
  // What the space's crash may leave: the versions of its lines and files.
  std::shared_ptr<const CrashSpace> crashSpace(SpaceNo s) const;
  // The stores that may have given the bytes of the recovery's observation number `query`, ascending: Jaaru's
  // debugging aid. More than one: the load may read from any of them.
  std::vector<StoreRef> mayReadFrom(SpaceNo s, RecoveryNo recovery, std::size_t query) const;

  // One state of a space.
  CrashState crashState(SpaceNo s, const ChosenVersions& chosen) const;
  Run request(SpaceNo s, const ChosenVersions& chosen, bool traced = false) const;
  // The recovery that the state leads to, from the tree if it is known, by a run if it is not. Runs made so count in
  // the summary.
  Result<RecoveryNo> recoveryOf(SpaceNo s, const ChosenVersions& chosen);

  // Runs one state again, whether it is known or not, and compares it with what is known.
  struct Repeated {
    RunEnd result;
    std::optional<Divergence> divergence;
  };
  Result<Repeated> repeat(SpaceNo s, const ChosenVersions& chosen, bool traced = false, bool hangs = false);
  // Repeats a seeded sample of the recoveries, each at a space that leads to it; the first divergence, if any.
  Result<std::optional<Divergence>> repeatSample(std::size_t count);

  // The trace of the recovery in which a further crash comes (`through` of such a space): the bytes of a trace file.
  Result<std::string> traceOf(RecoveryNo recovery) const;

 private:
  struct State;
  explicit Explorer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace blackout
