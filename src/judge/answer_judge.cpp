#include "judge/answer_judge.h"

#include <algorithm>
#include <bit>

#include "judge/state_probe.h"

namespace blackout {

bool RacingReads::judged(StoreNo store) const {
  EventNo at = baseline_.index().stores()[store].event;
  return interest_.contains(at) && (trusted_ == nullptr || !trusted_->inside(at));
}

bool RacingReads::races(SpaceNo space, const Observation& o) const {
  if (o.query.kind != QueryKind::Bytes || o.classes < 2 || !judged(o.query)) return false;
  const SpaceInfo* first = &explorer_.space(space);
  while (first->level > 1) first = &explorer_.space(first->parent);
  LineNo line = baseline_.tracked().line(o.query.line());
  std::uint64_t cared = o.query.mask;
  // Registered, it is read whatever a crash left of it.
  for (const CommitVariable& v : variables_) cared &= ~maskIn(line, v.variable);
  const Index& index = baseline_.index();
  LineId id = index.lineId(line);
  if (id == kNoLine || explorer_.space(space).level > 1) return cared != 0;
  auto open = index.openStores(id, first->at, 0, index.historyLength(id, first->at));
  return std::any_of(open.begin(), open.end(), [&](const LineStore& s) {
    EventNo stored = index.stores()[s.store].event;
    std::uint64_t matters = maskOf(index, s.store) & cared & ~relevance_.irrelevant(line, stored, first->at);
    return matters != 0 && judged(s.store);
  });
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

bool AnswerJudge::rejects(SpaceNo space, const Outcome& outcome, bool stored) {
  if (expected_.oneAnswer()) return false;
  auto allowed = expected_.allows(space, outcome, stored);
  if (!allowed || *allowed) return false;
  // Without guardians nobody knows which reads are tests, and so no answer shows anything.
  bool shown = basisOf(space) == ExpectedAnswer::Basis::Operation && reads_.guardians().known();
  return shown == (wanted_ == Wanted::Shown);
}

// Whether another restart makes all racing reads as well that come after one of these.
bool AnswerJudge::readsOn(SpaceNo space, const RecoveryDetail& detail, std::size_t from, RecoveryNo instead) {
  RecoveryDetail other = explorer_.detail(space, instead);
  for (std::size_t i = from + 1; i < detail.observations.size(); ++i) {
    const Query& q = detail.observations[i].query;
    if (!reads_.racesUnawares(space, detail.observations[i])) continue;
    if (std::none_of(other.observations.begin(), other.observations.end(), [&](const Observation& o) {
          return o.query.kind == q.kind && o.query.subject == q.subject && (o.query.mask & q.mask) != 0;
        }))
      return false;
  }
  return true;
}

std::optional<std::size_t> AnswerJudge::findReadAtFault(SpaceNo space, RecoveryNo recovery) {
  RecoveryDetail detail = explorer_.detail(space, recovery);
  // A read with which what follows is not even read works as a test of it, in code that nobody has analysed too.
  std::optional<std::size_t> test;
  constexpr unsigned kMostTries = 64;  // states; almost all are known
  unsigned tries = 0;
  for (std::size_t i = 0; i < detail.observations.size(); ++i) {
    const Observation& o = detail.observations[i];
    if (!reads_.racesUnawares(space, o)) continue;
    std::shared_ptr<const CrashSpace> crash = explorer_.crashSpace(space);
    const UncertainLine& line = crash->line(o.query.line());
    std::uint32_t now = detail.example.versions.at(o.query.line());
    auto differs = [&](std::uint32_t v) {
      for (std::uint64_t left = o.query.mask; left != 0; left &= left - 1) {
        auto byte = static_cast<unsigned>(std::countr_zero(left));
        if (line.versions[v].bytes[byte] != line.versions[now].bytes[byte]) return true;
      }
      return false;
    };
    for (std::uint32_t v = 0; v < line.versions.size(); ++v) {
      if (!differs(v)) continue;
      if (++tries > kMostTries) {
        unexplained_ += test ? 0 : 1;
        return test;
      }
      ChosenVersions other = detail.example;
      other.versions[o.query.line()] = v;
      auto instead = explorer_.recoveryOf(space, other);
      if (!instead) return test;
      if (oracle_.verdict(space, *instead).judgement != Judgement::Fine) continue;
      Outcome outcome = explorer_.outcome(explorer_.outcomeNo(*instead));
      bool stored = (explorer_.used(*instead) & kStored) != 0;
      auto allowed = expected_.allows(space, outcome, stored);
      if (!allowed || !*allowed) continue;
      if (readsOn(space, detail, i, *instead)) return i;
      if (!test) test = i;
    }
  }
  return test;
}

std::optional<std::size_t> AnswerJudge::readAtFault(SpaceNo space, RecoveryNo recovery) {
  auto [it, fresh] = readsAtFault_.try_emplace({space, recovery});
  if (fresh) {
    // A copy: to know what is expected may take another run.
    Outcome outcome = explorer_.outcome(explorer_.outcomeNo(recovery));
    if (rejects(space, outcome, (explorer_.used(recovery) & kStored) != 0))
      it->second = findReadAtFault(space, recovery);
  }
  return it->second;
}

const Verdict& AnswerJudge::verdict(SpaceNo space, RecoveryNo recovery) {
  static const Verdict fine;
  const Verdict& plain = oracle_.verdict(space, recovery);
  if (plain.judgement != Judgement::Fine) return wanted_ == Wanted::Shown ? plain : fine;
  return !expected_.oneAnswer() && readAtFault(space, recovery) ? wrongAnswer(basisOf(space)) : fine;
}

Verdict AnswerJudge::verdict(SpaceNo space, const Outcome& outcome) {
  Verdict plain = oracle_.verdict(space, outcome);
  if (plain.judgement != Judgement::Fine) return wanted_ == Wanted::Shown ? plain : Verdict();
  // Whether it stored is not known: what it says more is taken for its own words.
  return rejects(space, outcome, true) ? wrongAnswer(basisOf(space)) : plain;
}

}  // namespace blackout
