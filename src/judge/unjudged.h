// What restarts did that was not judged, or only in part, and why: sentences for the report, most of which make the
// result inconclusive.
#pragma once

#include "detect/trusted.h"
#include "explore/explorer.h"
#include "judge/before_run.h"
#include "judge/crash_check.h"
#include "judge/expected_answers.h"
#include "judge/oracle.h"
#include "judge/state_judge.h"
#include "run/patience.h"

namespace blackout {

class Unjudged {
 public:
  // All must outlive it.
  Unjudged(const Explorer& explorer, const Index& index, const CrashOptions& options, CrashCheck& out);

  // Where nobody has said what exit codes mean, and an error may be one or not.
  void exits(const OracleRules& rules, const Outcome& intact);
  // What restarts print where nobody can say what they should: after crashes in what several threads did at once, and
  // after further crashes. Whether it is said must not depend on how the threads took turns.
  void answers(ExpectedAnswers& expected);
  // A clean result speaks of what was observed: bytes that no restart reads may be anything after a crash. `pmdk`: its
  // libraries, or null; `poolIgnored`: by a harness whose open() does not look at what is there, which is said.
  void unread(StateJudge& judge, const TrackedBytes& tracked, const Trusted* pmdk, bool poolIgnored);
  // Restarts that see no more than the pools as they were before the run, where those are refused.
  void excused(BeforeRun& before);
  void cutOutput();
  // After so many crashes.
  void unexplained(std::uint64_t crashes);
  // The time ended after the exploration did.
  void cutShort(const Patience& patience);

 private:
  // Whether all restarts that end well end alike.
  bool alike(StateJudge& judge);

  const Explorer& explorer_;
  const Index& index_;
  const CrashOptions& o_;
  CrashCheck& out_;
};

}  // namespace blackout
