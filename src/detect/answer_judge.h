// Restarts that end well and yet say what they should not (expected_answers.h). Such an answer counts only if the
// restart read bytes that the crash may have lost and that are no test made on purpose: a recovery that says "rolled
// back" after it found a log to be valid is what a correct program does.
#pragma once

#include <map>
#include <set>
#include <utility>

#include "detect/expected_answers.h"
#include "detect/program_guardians.h"
#include "detect/relevance.h"

namespace blackout {

// Reads of a restart that race with the crash (XFDetector, equation 1), as far as they are to be judged.
class RacingReads {
 public:
  // All must outlive it.
  RacingReads(const Explorer& explorer, const Baseline& baseline, ProgramGuardians& guardians)
      : explorer_(explorer), baseline_(baseline), guardians_(guardians), relevance_(baseline.index()) {}

  // Whether what the observation reads may have been stored or not, as far as the crash tells, and somebody cares.
  bool races(SpaceNo space, const Observation& o) const;
  // Whether one of the restart's reads races and is no test of a guardian.
  bool any(SpaceNo space, LeafNo leaf);
  ProgramGuardians& guardians() const { return guardians_; }

 private:
  const Explorer& explorer_;
  const Baseline& baseline_;
  ProgramGuardians& guardians_;
  Relevance relevance_;
};

class AnswerJudge : public StateJudge {
 public:
  enum class Wanted : std::uint8_t {
    Shown,      // what the oracle says, and answers that are wrong for a marked operation
    Suspected,  // only answers that are wrong for a stretch between two ordering points
  };
  // All must outlive it.
  AnswerJudge(Wanted wanted, const Explorer& explorer, OracleJudge& oracle, ExpectedAnswers& expected,
              RacingReads& reads)
      : wanted_(wanted), explorer_(explorer), oracle_(oracle), expected_(expected), reads_(reads) {}

  const Verdict& verdict(SpaceNo space, LeafNo leaf) override;
  Verdict verdict(SpaceNo space, const Outcome& outcome) override;
  // The verdict on an answer that is not allowed.
  static const Verdict& wrongAnswer(ExpectedAnswer::Basis basis);

 private:
  // Whether this judge minds the answer, whatever led to it.
  bool minds(SpaceNo space, const Outcome& outcome);
  ExpectedAnswer::Basis basisOf(SpaceNo space);

  Wanted wanted_;
  const Explorer& explorer_;
  OracleJudge& oracle_;
  ExpectedAnswers& expected_;
  RacingReads& reads_;
  std::map<std::pair<SpaceNo, LeafNo>, bool> wrong_;
};

}  // namespace blackout
