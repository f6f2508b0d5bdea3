// How restarts are judged while their causes are looked for. The oracle judges an outcome by itself; other judges know
// more of the crash that it comes after.
#pragma once

#include <deque>
#include <map>

#include "explore/explorer.h"
#include "judge/before_run.h"
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

// The oracle, whatever the crash; what a restart refuses before the run too is excused. A restart that fails, and that
// has read a file which is no pool and was changed by the recorded run, may fail because of that file: it saw what was
// there before the recording, which no crash leaves.
class OracleJudge : public StateJudge {
 public:
  // All must outlive it. `before` may be null: nothing is excused.
  OracleJudge(const Explorer& explorer, const OracleRules& rules, BeforeRun* before = nullptr)
      : explorer_(explorer), rules_(rules), before_(before) {}
  const Verdict& verdict(SpaceNo space, RecoveryNo recovery) override {
    static const Verdict fine;
    const Verdict& v = verdict(explorer_.outcomeNo(recovery));
    if (v.judgement != Judgement::Failed) return v;
    if (before_ != nullptr && before_->excuses(space, recovery)) return fine;
    return (explorer_.used(recovery) & kUsedRecorded) == 0 ? v : byOtherFile(v);
  }
  Verdict verdict(SpaceNo space, const Outcome& outcome) override {
    Verdict v = judge(outcome, rules_);
    bool excused = v.judgement == Judgement::Failed && before_ != nullptr && before_->excuses(space, outcome);
    return excused ? Verdict() : v;
  }
  const Verdict& verdict(OutcomeNo o) {
    while (verdicts_.size() <= o.value())
      verdicts_.push_back(judge(explorer_.outcome(static_cast<OutcomeNo>(verdicts_.size())), rules_));
    return verdicts_[o.value()];
  }

 private:
  const Verdict& byOtherFile(const Verdict& failed) {
    auto [at, fresh] = byOtherFile_.try_emplace(failed.symptom);
    if (fresh) at->second = unjudgedByOtherFile(failed, explorer_.summary().notes);
    return at->second;
  }

  const Explorer& explorer_;
  const OracleRules& rules_;
  BeforeRun* before_;
  std::deque<Verdict> verdicts_;  // by outcome
  std::map<std::string, Verdict> byOtherFile_;
};

}  // namespace blackout
