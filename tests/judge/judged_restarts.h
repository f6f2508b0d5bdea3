// All restarts of a tiny program, explored, and the judges of their answers and reads over them, without the findings
// that come of it.
#pragma once

#include <gtest/gtest.h>

#include "fake_recovery.h"
#include "judge/answer_judge.h"
#include "judge/bad_reads.h"
#include "judged_program.h"

namespace blackout::test {

struct JudgedRestarts {
  JudgedRestarts(JudgedProgram& p, const FakeRecovery& recovery, ProgramGuardians known = noGuardians())
      : index(p.index()),
        tracked(TrackedBytes::of(index)),
        baseline(index, tracked, index.points(PointsMode::Enough)),
        runner(baseline, recovery),
        explored(std::move(Explorer::explore(tracked, baseline, runner, {}).value())),
        explorer(*explored),
        oracle(explorer, rules),
        traces(explorer, index),
        probe(explorer, baseline, runner, traces, oracle),
        expected(probe, baseline, oracle, true),
        variables(*commitVariables(index.trace(), [](EventNo) { return std::string(); })),
        guardians(std::move(known)),
        reads(explorer, baseline, guardians, variables, nullptr),
        shown(AnswerJudge::Wanted::Shown, explorer, oracle, expected, reads),
        suspected(AnswerJudge::Wanted::Suspected, explorer, oracle, expected, reads),
        bad(explorer, baseline, variables, reads) {}
  static ProgramGuardians noGuardians() { return ProgramGuardians(std::vector<std::string>()); }

  SpaceNo last() const { return static_cast<SpaceNo>(explorer.spaceCount() - 1); }
  // The recovery of a space that prints this.
  RecoveryNo printing(SpaceNo space, std::string_view output) {
    for (RecoveryNo r : explorer.space(space).recoveries)
      if (explorer.outcome(explorer.outcomeNo(r)).output == output) return r;
    ADD_FAILURE() << "no restart prints " << output;
    return 0;
  }
  // The site of the read that an answer of the space comes of; 0: none.
  std::uint64_t siteAtFault(AnswerJudge& judge, SpaceNo space, std::string_view output) {
    RecoveryNo r = printing(space, output);
    auto at = judge.readAtFault(space, r);
    return at ? explorer.detail(space, r).observations[*at].query.site : 0;
  }

  const Index& index;
  TrackedBytes tracked;
  Baseline baseline;
  FakeRunner runner;
  std::unique_ptr<Explorer> explored;
  Explorer& explorer;
  OracleRules rules;
  OracleJudge oracle;
  CrashTraces traces;
  StateProbe probe;
  ExpectedAnswers expected;
  std::vector<CommitVariable> variables;
  ProgramGuardians guardians;
  RacingReads reads;
  AnswerJudge shown;
  AnswerJudge suspected;
  BadReads bad;
};

inline Outcome printed(std::string text) {
  Outcome o;
  o.output = std::move(text);
  return o;
}

}  // namespace blackout::test
