// How restarts are judged while their causes are looked for. The oracle judges an outcome by itself; other judges know
// more of the crash that it comes after.
#pragma once

#include <deque>

#include "explore/explorer.h"
#include "judge/oracle.h"

namespace blackout {

class StateJudge {
 public:
  virtual ~StateJudge() = default;
  // A recovery that the space leads to.
  virtual const Verdict& verdict(SpaceNo space, RecoveryNo recovery) = 0;
  // A run on memory that perhaps no crash leaves.
  virtual Verdict verdict(SpaceNo space, const Outcome& outcome) = 0;
};

// The oracle, whatever the crash.
class OracleJudge : public StateJudge {
 public:
  // Both must outlive it.
  OracleJudge(const Explorer& explorer, const OracleRules& rules) : explorer_(explorer), rules_(rules) {}
  const Verdict& verdict(SpaceNo, RecoveryNo recovery) override { return verdict(explorer_.outcomeNo(recovery)); }
  Verdict verdict(SpaceNo, const Outcome& outcome) override { return judge(outcome, rules_); }
  const Verdict& verdict(OutcomeNo o) {
    while (verdicts_.size() <= o)
      verdicts_.push_back(judge(explorer_.outcome(static_cast<OutcomeNo>(verdicts_.size())), rules_));
    return verdicts_[o];
  }

 private:
  const Explorer& explorer_;
  const OracleRules& rules_;
  std::deque<Verdict> verdicts_;  // by outcome
};

}  // namespace blackout
