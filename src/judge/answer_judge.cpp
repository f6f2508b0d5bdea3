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
  static const Verdict ended{Judgement::Failed, "answers as if an operation had not been that had ended before",
                             "answer"};
  static const Verdict stretch{Judgement::Failed, "answers neither as with all of it durable nor as with none",
                               "answer"};
  switch (basis) {
    case ExpectedAnswer::Basis::Operation:
      return operation;
    case ExpectedAnswer::Basis::Ended:
      return ended;
    case ExpectedAnswer::Basis::None:
    case ExpectedAnswer::Basis::Stretch:
      break;
  }
  return stretch;
}

bool AnswerJudge::rejects(const ExpectedAnswer& expected, const Outcome& outcome, bool stored) {
  if (expected_.oneAnswer() || expected_.allows(expected, outcome, stored)) return false;
  return (expected.basis != ExpectedAnswer::Basis::Stretch) == (wanted_ == Wanted::Shown);
}

// Whether another restart, which saw something else at one of these reads, goes on to ask for other things.
bool AnswerJudge::decides(SpaceNo space, const RecoveryDetail& detail, std::size_t at, RecoveryNo instead) const {
  RecoveryDetail other = explorer_.detail(space, instead);
  auto same = [](const Observation& a, const Observation& b) { return a.query.sameQuestion(b.query); };
  return other.observations.size() != detail.observations.size() ||
         !std::equal(detail.observations.begin() + static_cast<std::ptrdiff_t>(at), detail.observations.end(),
                     other.observations.begin() + static_cast<std::ptrdiff_t>(at), same);
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

namespace {

// The bytes of a mask as a number: what a test of them sees.
std::uint64_t valueOf(const LineBytes& line, std::uint64_t mask) {
  std::uint64_t value = 0;
  auto from = static_cast<unsigned>(std::countr_zero(mask));
  for (unsigned i = from; i < from + 8 && i < BLACKOUT_LINE; ++i)
    if ((mask >> i & 1) != 0) value |= std::uint64_t{std::to_integer<std::uint8_t>(line[i])} << (8 * (i - from));
  return value;
}

}  // namespace

// Whether words that a test leads to have data in them: a restart for which all is the same up to the test prints them
// with something else in quotes. A number may say what later tests came to, so other numbers count only where all the
// same is read.
bool AnswerJudge::printsWhatFollows(SpaceNo space, const RecoveryDetail& detail, std::size_t test,
                                    const Outcome& said) const {
  for (RecoveryNo recovery : explorer_.space(space).recoveries) {
    const Outcome& outcome = explorer_.outcome(explorer_.outcomeNo(recovery));
    Variation how = sameButOutput(said, outcome) ? variationOf(said.output, outcome.output) : Variation::None;
    if (how == Variation::None) continue;
    RecoveryDetail other = explorer_.detail(space, recovery);
    auto sameQuestion = [](const Observation& a, const Observation& b) { return a.query.sameQuestion(b.query); };
    auto sameReply = [&](const Observation& a, const Observation& b) {
      return sameQuestion(a, b) && a.taken == b.taken;
    };
    auto after = detail.observations.begin() + static_cast<std::ptrdiff_t>(test) + 1;
    if (other.observations.size() <= test ||
        !std::equal(detail.observations.begin(), after, other.observations.begin(), sameReply))
      continue;
    if (how == Variation::Quotes || std::equal(detail.observations.begin(), detail.observations.end(),
                                               other.observations.begin(), other.observations.end(), sameQuestion))
      return true;
  }
  return false;
}

// Whether an answer that a test leads to is a right one but for what the test itself has to say: its value, where the
// right one has the other, or words of its own. In a stretch, where nobody has said what belongs together, each of
// several tests may go its own way.
bool AnswerJudge::saysOnlyWhatWasTested(const ExpectedAnswer& expected, const Outcome& said, std::uint64_t value,
                                        std::uint64_t otherValue, bool guardian) {
  const AnswerLines& lines = expected_.lines();
  for (OutcomeNo legal : {expected.before, expected.after, expected.least}) {
    const Outcome& right = explorer_.outcome(legal);
    if (sameButOutput(said, right) && (lines.same(said.output, right.output, true) ||
                                       differOnlyByValue(said.output, value, right.output, otherValue)))
      return true;
  }
  return guardian && expected.basis == ExpectedAnswer::Basis::Stretch &&
         lines.mixes(said.output, explorer_.outcome(expected.before).output, explorer_.outcome(expected.after).output,
                     true);
}

std::optional<std::size_t> AnswerJudge::findReadAtFault(SpaceNo space, RecoveryNo recovery,
                                                        const ExpectedAnswer& expected) {
  RecoveryDetail detail = explorer_.detail(space, recovery);
  Outcome said = explorer_.outcome(detail.outcome);
  // First reads that nobody knows to be tests, then those of guardians.
  for (bool guardians : {false, true}) {
    // A read with which what follows is not even read works as a test of it, in code that nobody has analysed too.
    std::optional<std::size_t> test;
    constexpr unsigned kMostTries = 64;  // states; almost all are known
    unsigned tries = 0;
    for (std::size_t i = 0; i < detail.observations.size(); ++i) {
      const Observation& o = detail.observations[i];
      if (!reads_.races(space, o) || reads_.guardians().tests(o.query.site) != guardians) continue;
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
      // What an operation that had ended made of these bytes was promised, and so is what a test of them says.
      const bool promised = expected_.losesPromised(space, detail.example, o.query.line(), o.query.mask);
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
        if (!expected_.allows(expected, outcome, stored)) continue;
        if (!promised && (guardians || decides(space, detail, i, *instead)) &&
            saysOnlyWhatWasTested(expected, said, valueOf(line.versions[now].bytes, o.query.mask),
                                  valueOf(line.versions[v].bytes, o.query.mask), guardians) &&
            !printsWhatFollows(space, detail, i, said))
          return std::nullopt;
        if (!guardians && readsOn(space, detail, i, *instead)) return i;
        if (!test) test = i;
      }
    }
    if (test) return test;
  }
  return std::nullopt;
}

std::optional<std::size_t> AnswerJudge::readAtFault(SpaceNo space, RecoveryNo recovery) {
  auto [it, fresh] = readsAtFault_.try_emplace({space, recovery});
  if (fresh) {
    OutcomeNo said = explorer_.outcomeNo(recovery);
    ExpectedAnswer expected = expected_.of(space, recovery);
    if (expected.has(said)) return it->second;
    // A copy: to know what answers look like may take another run.
    Outcome outcome = explorer_.outcome(said);
    if (rejects(expected, outcome, (explorer_.used(recovery) & kStored) != 0))
      it->second = findReadAtFault(space, recovery, expected);
  }
  return it->second;
}

const Verdict& AnswerJudge::verdict(SpaceNo space, RecoveryNo recovery) {
  static const Verdict fine;
  const Verdict& plain = oracle_.verdict(space, recovery);
  if (plain.judgement != Judgement::Fine) return wanted_ == Wanted::Shown ? plain : fine;
  return !expected_.oneAnswer() && readAtFault(space, recovery) ? wrongAnswer(expected_.of(space, recovery).basis)
                                                                : fine;
}

// Judged as a restart of this crash that says the same. If there is none, it is not known whether this one stored
// anything, and what it says more is taken for its own words.
Verdict AnswerJudge::verdict(SpaceNo space, const Outcome& outcome) {
  Verdict plain = oracle_.verdict(space, outcome);
  if (plain.judgement != Judgement::Fine) return wanted_ == Wanted::Shown ? plain : Verdict();
  bool stored = true;
  std::vector<RecoveryNo> recoveries = explorer_.space(space).recoveries;
  for (RecoveryNo recovery : recoveries) {
    if (!sameAnswer(outcome, explorer_.outcome(explorer_.outcomeNo(recovery)))) continue;
    stored = (explorer_.used(recovery) & kStored) != 0;
    ExpectedAnswer expected = expected_.of(space, recovery);
    if (rejects(expected, outcome, stored)) return wrongAnswer(expected.basis);
  }
  auto expected = expected_.at(space);
  return expected && rejects(*expected, outcome, stored) ? wrongAnswer(expected->basis) : plain;
}

}  // namespace blackout
