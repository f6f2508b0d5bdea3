// The questions that are asked about crash states while their cause is looked for: how a restart on one ends, what
// it loses, and what would be if a store had not been. All but the last are mostly answered by the recovery tree.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "explore/explorer.h"
#include "judge/state_judge.h"
#include "model/index.h"

namespace blackout {

// The traces in which the crashes of a space come: the program's, then those of the recoveries.
class CrashTraces {
 public:
  CrashTraces(const Explorer& explorer, const Index& recording);
  ~CrashTraces();
  CrashTraces(const CrashTraces&) = delete;
  CrashTraces& operator=(const CrashTraces&) = delete;
  // By level, from 0. An error if a recovery's trace can't be read.
  Result<std::vector<const Index*>> of(SpaceNo space);

 private:
  struct Opened {
    std::string bytes;
    std::unique_ptr<Trace> trace;
    std::unique_ptr<Index> index;
  };
  const Explorer& explorer_;
  const Index& recording_;
  std::map<RecoveryNo, Opened> opened_;
};

class StateProbe {
 public:
  // All must outlive it. `runner` is the explorer's own, used while nothing is explored.
  StateProbe(Explorer& explorer, const Baseline& baseline, Runner& runner, CrashTraces& traces, StateJudge& judge)
      : explorer_(explorer), baseline_(baseline), runner_(runner), traces_(traces), judge_(judge) {}

  Explorer& explorer() const { return explorer_; }
  const TrackedBytes& tracked() const { return baseline_.tracked(); }
  Result<std::vector<const Index*>> indexes(SpaceNo space) const { return traces_.of(space); }
  // The point of the crash of a level on the way to the space.
  EventNo crashOf(SpaceNo space, unsigned level) const;
  // Whether two spaces are neighbours: crashes in one and the same run.
  bool sameRun(SpaceNo a, SpaceNo b) const;

  const Verdict& verdict(SpaceNo space, RecoveryNo recovery) { return judge_.verdict(space, recovery); }
  Verdict verdict(SpaceNo space, const Outcome& outcome) { return judge_.verdict(space, outcome); }
  bool fails(SpaceNo space, RecoveryNo recovery) { return verdict(space, recovery).judgement == Judgement::Failed; }
  bool fails(SpaceNo space, RecoveryNo recovery, const std::string& key) {
    return fails(space, recovery) && verdict(space, recovery).key == key;
  }

  Result<RecoveryNo> recoveryOf(SpaceNo space, const ChosenVersions& chosen) {
    return explorer_.recoveryOf(space, chosen);
  }
  // What the crash may leave; until another one is asked for.
  const CrashSpace& crashSpace(SpaceNo space);
  // The state with the fewest lost stores that leads to the recovery: of each line that it read, the largest version
  // that agrees with what it read.
  ChosenVersions largest(SpaceNo space, RecoveryNo recovery);
  // The stores that a state loses, by level, then in trace order.
  Result<std::vector<StoreRef>> lostStores(SpaceNo space, const ChosenVersions& chosen);

  // Whether nothing is lost of the run in which the crash comes. What earlier crashes lost is settled by then.
  bool isWhole(SpaceNo space, const std::vector<StoreRef>& lost) const;
  // The state of another crash of the same run in which nothing is lost of it, and of the crashes before what `chosen`
  // loses at the space `like`.
  ChosenVersions wholeAt(SpaceNo space, SpaceNo like, const ChosenVersions& chosen);

  // How a restart ends if surviving stores had not been made, and a lost or later one (`with`) had. Perhaps no crash
  // leaves such memory: it tells what the failure hangs on, and shows nothing by itself. None: it can't be told.
  Result<std::optional<Judgement>> without(SpaceNo space, const ChosenVersions& chosen,
                                           std::span<const StoreRef> removed,
                                           const std::optional<StoreRef>& with = std::nullopt);
  Result<std::optional<Judgement>> without(SpaceNo space, const ChosenVersions& chosen, const StoreRef& removed,
                                           const std::optional<StoreRef>& with = std::nullopt) {
    return without(space, chosen, std::span(&removed, 1), with);
  }
  // A restart on the state with other words in it.
  Result<RunEnd> with(SpaceNo space, const ChosenVersions& chosen, std::span<const ReplacedWord> replaced,
                      bool traced = false);

 private:
  std::optional<LineBytes> contentBefore(SpaceNo space, const ChosenVersions& chosen, const Index& index,
                                         const StoreRef& store);

  Explorer& explorer_;
  const Baseline& baseline_;
  Runner& runner_;
  CrashTraces& traces_;
  StateJudge& judge_;
  // One space at a time: the versions of its lines are asked for again and again.
  std::optional<SpaceNo> openSpace_;
  std::shared_ptr<const CrashSpace> open_;
};

// What a line holds for the run, to be changed for an experiment.
LineBytes& lineIn(Run& request, const Baseline& baseline, TrackedNo line);

// All pieces of the wide store that a store belongs to, in order.
std::vector<StoreNo> piecesOf(const Index& index, StoreNo store);

// Bytes of its line that a store writes.
std::uint64_t maskOf(const Index& index, StoreNo store);

}  // namespace blackout
