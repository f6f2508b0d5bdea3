#include "detect/answer_judge.h"

#include <algorithm>

namespace blackout {

bool RacingReads::judged(StoreNo store) const {
  EventNo at = baseline_.index().stores()[store].event;
  return regions_.contains(at) && (trusted_ == nullptr || !trusted_->inside(at));
}

bool RacingReads::races(SpaceNo space, const Observation& o) const {
  if (o.query.kind != QueryKind::Bytes || o.classes < 2 || !judged(o.query)) return false;
  const SpaceInfo* first = &explorer_.space(space);
  while (first->level > 1) first = &explorer_.space(first->parent);
  LineNo line = baseline_.watched().line(o.query.subject);
  // From the beginning of the trace on: whoever gave the bytes up does not care which store they are from.
  std::uint64_t cared = o.query.mask & ~relevance_.irrelevant(line, 0, first->at);
  if (cared == 0) return false;
  const Index& index = baseline_.index();
  LineId id = index.lineId(line);
  if (id == kNoLine || explorer_.space(space).level > 1) return true;
  auto open = index.openStores(id, first->at, 0, index.historyLength(id, first->at));
  return std::any_of(open.begin(), open.end(), [&](const LineStore& s) {
    std::uint64_t stored = ((std::uint64_t{1} << s.size) - 1) << s.offset;
    return (stored & cared) != 0 && judged(s.store);
  });
}

bool RacingReads::any(SpaceNo space, LeafNo leaf) {
  LeafDetail detail = explorer_.detail(space, leaf);
  return std::any_of(detail.observations.begin(), detail.observations.end(),
                     [&](const Observation& o) { return races(space, o) && !guardians_.tests(o.query.site); });
}

const Verdict& AnswerJudge::wrongAnswer(ExpectedAnswer::Basis basis) {
  static const Verdict operation{Judgement::Failed, "answers neither as before the operation nor as after it",
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
