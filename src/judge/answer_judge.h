// Restarts that end well and yet say what they should not (expected_answers.h). Such an answer counts only if it comes
// of a read of bytes that the crash may have lost: with other bytes there, which the crash may have left as well, the
// answer would be right. If that read is a test made on purpose, what it says itself is no difference: its value, and
// words beside the right answer, such as "rolled back". Tests are known from the program's code, or by experiment.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "detect/relevance.h"
#include "detect/trusted.h"
#include "judge/commit_variables.h"
#include "judge/expected_answers.h"
#include "judge/program_guardians.h"

namespace blackout {

// Reads of a restart that race with the crash (XFDetector, equation 1), as far as they are to be judged.
class RacingReads {
 public:
  // All must outlive it. `variables`: registered ones, whose reads are no races; `trusted`: code that is not judged;
  // null: none.
  RacingReads(const Explorer& explorer, const Baseline& baseline, ProgramGuardians& guardians,
              const std::vector<CommitVariable>& variables, const Trusted* trusted)
      : explorer_(explorer),
        baseline_(baseline),
        guardians_(guardians),
        variables_(variables),
        trusted_(trusted),
        relevance_(baseline.index()),
        interest_(baseline.index().trace()),
        anyRegion_(explorer.postRegions()) {}

  // Whether the program or its user wants a word about such a read, and about what a store wrote.
  bool judged(const Query& q) const {
    return judgedRead(q.flags, anyRegion_) && (trusted_ == nullptr || !trusted_->trustedSite(q.site));
  }
  bool judged(StoreNo store) const;
  // Whether what the observation reads may have been stored or not, as far as the crash tells, and somebody cares.
  bool races(SpaceNo space, const Observation& o) const;
  // The same, and it is no test of a guardian.
  bool racesUnawares(SpaceNo space, const Observation& o) { return races(space, o) && !guardians_.tests(o.query.site); }
  ProgramGuardians& guardians() const { return guardians_; }

 private:
  const Explorer& explorer_;
  const Baseline& baseline_;
  ProgramGuardians& guardians_;
  const std::vector<CommitVariable>& variables_;
  const Trusted* trusted_;
  Relevance relevance_;
  Interest interest_;
  bool anyRegion_;
};

class AnswerJudge : public StateJudge {
 public:
  enum class Wanted : std::uint8_t {
    Shown,      // what the oracle says, and answers that are wrong for a marked operation
    Suspected,  // only answers that are wrong for a stretch between two ordering points
  };
  // All must outlive it.
  AnswerJudge(Wanted wanted, Explorer& explorer, OracleJudge& oracle, ExpectedAnswers& expected, RacingReads& reads)
      : wanted_(wanted), explorer_(explorer), oracle_(oracle), expected_(expected), reads_(reads) {}

  const Verdict& verdict(SpaceNo space, RecoveryNo recovery) override;
  Verdict verdict(SpaceNo space, const Outcome& outcome) override;
  // The read that a wrong answer comes of: the number of the observation.
  std::optional<std::size_t> readAtFault(SpaceNo space, RecoveryNo recovery);
  // Wrong answers for which the read at fault was not looked for to the end: they count as right.
  std::uint64_t unexplained() const { return unexplained_; }
  // The verdict on an answer that is not allowed.
  static const Verdict& wrongAnswer(ExpectedAnswer::Basis basis);

 private:
  // Whether this judge minds the answer, whatever led to it.
  bool rejects(const ExpectedAnswer& expected, const Outcome& outcome, bool stored);
  bool saysOnlyWhatWasTested(const ExpectedAnswer& expected, const Outcome& said, std::uint64_t value,
                             std::uint64_t otherValue, bool guardian);
  bool printsWhatFollows(SpaceNo space, const RecoveryDetail& detail, std::size_t test, const Outcome& said) const;
  std::optional<std::size_t> findReadAtFault(SpaceNo space, RecoveryNo recovery, const ExpectedAnswer& expected);
  bool decides(SpaceNo space, const RecoveryDetail& detail, std::size_t at, RecoveryNo instead) const;
  bool readsOn(SpaceNo space, const RecoveryDetail& detail, std::size_t from, RecoveryNo instead);

  Wanted wanted_;
  Explorer& explorer_;
  OracleJudge& oracle_;
  ExpectedAnswers& expected_;
  RacingReads& reads_;
  std::map<std::pair<SpaceNo, RecoveryNo>, std::optional<std::size_t>> readsAtFault_;
  std::uint64_t unexplained_ = 0;
};

}  // namespace blackout
