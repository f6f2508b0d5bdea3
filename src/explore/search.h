// The search for the recoveries of one level: opens its spaces in order, walks them, makes the runs that are missing
// and records which recoveries each space leads to.
//
// An edge that leads nowhere is claimed once, and all walks that need it wait, so each recovery is run once however
// many spaces need it at the same time. A space is explored in rounds: first one walk per restriction, then the
// branches that these found, then theirs; a round begins when the one before it has ended. So a space's recoveries are
// found by the number of departures from what the walk prefers, and whether the next round fits the budget is known
// before it is run. Results are taken space by space and round by round, whatever order the runs ended in.
//
// Breadth first: in a first pass a space with more than a few recoveries gets its cheap states only (nothing persisted,
// all, each line that matters alone lost and alone kept) and is put off; the second pass goes on with those. So a bound
// on time or runs, or an interrupt, leaves no crash without its cheap states while another has its hundredth. With such
// a bound crashes that bring something new come first (novelty.h).
//
// A space that is as that of the point before for all that restarts ask waits for that one, and takes its recoveries
// without a walk of its own (same_space.h).
//
// Records that seem to be trusted only if they are whole (whole_record.h) are told by experiment. When a space has no
// branches left, the combinations that were tried are compared: if they went on differently, the hypothesis is wrong
// there, and the space is walked once more with the pieces as ordinary reads. Of sums that somebody answers for, those
// combinations belong to it that would deceive a weaker sum (weak_sums.h).
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "explore/exploration.h"
#include "explore/same_space.h"
#include "explore/walk.h"

namespace blackout {

class Search {
 public:
  // All must outlive it.
  Search(Exploration& exploration, Runner& runner, const ExploreOptions& options, const Strategy& strategy,
         ExplorationSummary& summary);

  // Whether some space leads to the recovery: a run that was begun for a space past a bound is not told of.
  bool counted(RecoveryNo recovery) const { return countedRecoveries_.has(recovery) && countedRecoveries_[recovery]; }

  // Explores all spaces of the level.
  Result<Stop> explore(const Level& level);

  // The recovery that one restriction leads to, which must leave one version of every line; made if it isn't known.
  Result<RecoveryNo> recoveryOf(SpaceNo s, Restriction restriction);
  // How a run of such a state differs from what is known of it.
  Result<std::optional<Divergence>> compareWith(SpaceNo s, Restriction restriction, const RunEnd& result);
  // The memory of that state.
  Result<Run> request(SpaceNo s, Restriction restriction, bool traced);

 private:
  using Clock = std::chrono::steady_clock;

  enum class Pass : std::uint8_t { Cheap, Whole };
  struct Task {
    WalkState begin;
    WalkState state;
    Walk::Found found;
    Target end;
    bool done() const { return end.isLeaf(); }
  };
  struct OpenSpace {
    SpaceNo number = 0;
    std::size_t place = 0;  // in the order of the pass
    std::shared_ptr<const CrashSpace> space;
    std::uint64_t restrictions = 0;
    std::uint64_t nextRestriction = 0;
    std::vector<Task> tasks;          // of the present round
    std::size_t collected = 0;        // the first tasks, whose results are taken
    std::vector<WalkState> branches;  // for the next round
    std::uint64_t walks = 0;          // that ended since it began, or began anew
    ReadsKnown known;                 // when the round began
    std::vector<RecoveryNo> recoveries;
    std::size_t counted = 0;  // the first recoveries, which are in the summary
    std::unordered_set<RecoveryNo> seen;
    std::vector<std::shared_ptr<const Choice>> choices;  // of the walks so far
    std::set<RecordKey> leftOut;
    // Combinations of records, and how each went on.
    struct Tried {
      RecordRead read;
      RecoveryNo recovery = 0;
      OutcomeNo outcome = 0;
      WalkState ended;
    };
    std::vector<Tried> tried;
    // Sums of which what would deceive them was tried: where they begin, their lines with versions.
    std::set<std::pair<NodeNo, std::vector<std::pair<TrackedNo, std::vector<std::uint32_t>>>>> searched;
    std::set<RecordKey> refuted;  // of which combinations went on differently
    std::set<TrackedNo> cut;
    bool overBudget = false;
    bool postponed = false;  // it has more recoveries than the first pass explores
    bool follows = false;    // it seems to be as the one before, and waits for that one
    bool copied = false;     // and it was
    bool finished = false;
  };
  // A walk that waits for an edge.
  struct Waiter {
    std::size_t place = 0;  // of the space, in the order of the pass
    SpaceNo space = 0;
    std::size_t task = 0;
    auto operator<=>(const Waiter&) const = default;
  };
  // An edge of a tree of the level.
  struct EdgeKey {
    std::uint32_t tree = 0;
    EdgeNo edge = 0;
    auto operator<=>(const EdgeKey&) const = default;
  };
  struct Claim {
    std::set<Waiter> waiters;
    bool running = false;
    Run request;
  };

  // The states that are wanted before all others.
  Result<Stop> tryFirst();
  Result<Stop> exploreSpaces(std::vector<SpaceNo> spaces, Pass pass);
  void summarise(const Level& level);
  Run requestFor(SpaceNo s, const CrashSpace& space, const WalkState& state, bool traced);
  Result<void> begin(std::size_t place);
  bool isAsBefore(const OpenSpace& s);
  void proceedWithFollowers();
  void follow(OpenSpace& s);
  void proceed(OpenSpace& s);
  void endRound(OpenSpace& s);
  bool nextRound(OpenSpace& s);
  bool tryToDeceive(OpenSpace& s);
  static Restriction before(const OpenSpace::Tried& tried);
  bool refuteRecords(OpenSpace& s);
  void addSome(OpenSpace& s);
  void advance(OpenSpace& s, std::size_t task);
  void claim(const Waiter& waiter, EdgeKey edge);
  void collect(OpenSpace& s);
  void count(OpenSpace& s);
  void countOne(RecoveryNo recovery);
  bool settle();
  void record(OpenSpace& s);
  void recordAssumptions(const OpenSpace& s);
  void recordExplosion(const OpenSpace& s);
  void recordRaces(const OpenSpace& s);
  Result<void> dispatch();
  Result<void> finishOne(bool resume);
  Stop bound() const;
  void report(bool last);
  bool limited() const { return options_->maxRuns != 0 && made_ + running_.size() >= options_->maxRuns; }

  Exploration* exploration_;
  Runner* runner_;
  const ExploreOptions* options_;
  const Strategy* strategy_;
  ExplorationSummary* summary_;
  SpaceMemory memory_;
  Walk walk_;
  Clock::time_point start_;
  Clock::time_point lastReport_;

  // The level that is explored:
  const Level* level_ = nullptr;
  Pass pass_ = Pass::Whole;
  std::uint64_t budget_ = 0;        // recoveries of one space in this pass
  std::vector<SpaceNo> spaces_;     // of this pass, in its order
  std::size_t next_ = 0;            // of them, to open
  std::size_t front_ = 0;           // all before it are recorded
  std::vector<SpaceNo> postponed_;  // for the next pass
  std::uint64_t done_ = 0;          // spaces of the level that are explored
  std::map<SpaceNo, OpenSpace> open_;
  std::map<EdgeKey, Claim> claims_;
  std::set<std::pair<Waiter, EdgeKey>> queue_;  // claims that no worker has, by their first waiter
  std::optional<RunBatch> batch_;               // while a level is explored
  std::vector<unsigned> idle_;
  std::map<unsigned, EdgeKey> running_;
  IdVector<RecoveryNo, bool> countedRecoveries_;
  std::map<RecordKey, ChecksumAssumption> assumptions_;
  using RaceKey = std::tuple<std::uint64_t, TrackedNo, std::uint64_t>;  // site, line and mask
  std::map<RaceKey, RacedRead> races_;
  std::set<std::pair<RaceKey, SpaceNo>> postponedRaces_;  // that are counted for spaces of both passes
  // Points that are as the point before; none: they are not looked for.
  std::optional<SameSpace> same_;
  // The space that was recorded last, if what it found can be said of one that is the same.
  std::optional<SpaceNo> last_;
  std::set<RaceKey> lastRaces_;
  std::set<std::string> notes_;
  std::set<std::string> unseen_;
  OutcomeNo reportedOutcomes_ = 0;
  std::uint64_t made_ = 0;         // runs, whether or not a space has taken them
  bool full_ = false;              // the bound on runs is reached
  double exponent_ = 0, top_ = 0;  // the number of states is top * 10^exponent
};

}  // namespace blackout
