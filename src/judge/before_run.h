// Restarts that refuse the pools as they were before the run. A program may well exit with an error on a pool that was
// never made, and a crash that leaves no more than that is not to blame. So a restart after a crash that exits with an
// error counts as right if it ends as the one before the run does, every byte that it observed is as it was then, and
// the same is true with nothing lost: at that point, or at the one before it while what was stored in between is still
// on its way (no operation has ended since, and neither has the program). Otherwise a pool that was there is gone,
// which is a failure like any other. Signals, hangs and what sanitizers say are never excused.
#pragma once

#include <map>

#include "explore/explorer.h"
#include "judge/oracle.h"

namespace blackout {

class BeforeRun {
 public:
  // `outcome`: of the restart on the pools as they were before the run. `baseline` is that of the exploration;
  // `neighbours`: all points that matter are among its points. All but the outcome must outlive it.
  BeforeRun(Explorer& explorer, const Baseline& baseline, bool neighbours, Outcome outcome, const OracleRules& rules);

  const Outcome& outcome() const { return outcome_; }
  // It exits with an error that counts.
  bool refuses() const { return refuses_; }
  // Whether the restart refuses what was there before the run, and no crash is to blame.
  bool excuses(SpaceNo space, RecoveryNo recovery);
  // The same for a run on memory that perhaps no crash leaves.
  bool excuses(SpaceNo space, const Outcome& outcome);

 private:
  bool endsLikeBefore(const Outcome& now) const { return now.code == outcome_.code && sameAnswer(now, outcome_); }
  bool likeBefore(SpaceNo space, RecoveryNo recovery);
  bool wholeLikeBefore(SpaceNo space);
  bool onItsWay(SpaceNo space, RecoveryNo recovery) const;

  Explorer& explorer_;
  const Baseline& baseline_;
  bool neighbours_;
  Outcome outcome_;
  bool refuses_;
  std::map<std::pair<SpaceNo, RecoveryNo>, bool> known_;
};

}  // namespace blackout
