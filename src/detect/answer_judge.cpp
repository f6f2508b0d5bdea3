#include "detect/answer_judge.h"

#include <algorithm>

namespace blackout {

bool RacingReads::races(SpaceNo space, const Observation& o) const {
  if (o.query.kind != QueryKind::Bytes || o.classes < 2) return false;
  SpaceNo first = space;
  while (explorer_.space(first).level > 1) first = explorer_.space(first).parent;
  // From the beginning of the trace on: whoever gave the bytes up does not care which store they are from.
  std::uint64_t dead = relevance_.irrelevant(baseline_.watched().line(o.query.subject), 0, explorer_.space(first).at);
  return (o.query.mask & ~dead) != 0;
}

bool RacingReads::any(SpaceNo space, LeafNo leaf) {
  LeafDetail detail = explorer_.detail(space, leaf);
  return std::any_of(detail.observations.begin(), detail.observations.end(),
                     [&](const Observation& o) { return races(space, o) && !guardians_.tests(o.query.site); });
}

const Verdict& AnswerJudge::wrongAnswer(ExpectedAnswer::Basis basis) {
  static const Verdict operation{Judgement::Failed,
                                 "answers neither as before the operation nor as after it",
                                 "answer"};
  static const Verdict stretch{Judgement::Failed, "answers neither as with all of it durable nor as with none",
                               "answer"};
  return basis == ExpectedAnswer::Basis::Operation ? operation : stretch;
}

ExpectedAnswer::Basis AnswerJudge::basisOf(SpaceNo space) {
  auto expected = expected_.at(space);
  return expected ? expected->basis : ExpectedAnswer::Basis::None;
}

bool AnswerJudge::minds(SpaceNo space, const Outcome& outcome) {
  if (expected_.oneAnswer()) return false;
  auto allowed = expected_.allows(space, outcome);
  if (!allowed || *allowed) return false;
  // Without guardians nobody knows which reads are tests, and so no answer shows anything.
  bool shown = basisOf(space) == ExpectedAnswer::Basis::Operation && reads_.guardians().known();
  return shown == (wanted_ == Wanted::Shown);
}

const Verdict& AnswerJudge::verdict(SpaceNo space, LeafNo leaf) {
  static const Verdict fine;
  const Verdict& plain = oracle_.verdict(space, leaf);
  if (plain.judgement != Judgement::Fine) return wanted_ == Wanted::Shown ? plain : fine;
  if (expected_.oneAnswer()) return fine;
  auto [it, fresh] = wrong_.try_emplace({space, leaf}, false);
  if (fresh) {
    // A copy: to know what is expected may take another run.
    Outcome outcome = explorer_.outcome(explorer_.outcomeNo(leaf));
    it->second = minds(space, outcome) && reads_.any(space, leaf);
  }
  return it->second ? wrongAnswer(basisOf(space)) : fine;
}

Verdict AnswerJudge::verdict(SpaceNo space, const Outcome& outcome) {
  Verdict plain = oracle_.verdict(space, outcome);
  if (plain.judgement != Judgement::Fine) return wanted_ == Wanted::Shown ? plain : Verdict();
  return minds(space, outcome) ? wrongAnswer(basisOf(space)) : plain;
}

}  // namespace blackout
