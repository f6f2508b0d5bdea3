// What a restart may say. A crash in the middle of an operation must leave what a crash before it would have left, or
// one after it: so those are restarted too, with everything persisted, and what they say (how they end and what they
// print) are the two legal answers. A difference between these two is what every correct update looks like.
//
// An operation is the innermost one that is under way, or a transaction that a library announces. Where none is under
// way, or several overlap, of which any mixture is right, one thing is known: what operations had stored that had ended
// is there, so a crash that loses nothing else leaves the same answer as one that loses nothing. Of a crash in a
// restart nothing is said: what that had done by itself is no part of the operation that the first crash cut.
//
// Recovery may say in words what it did: which lines count is told by answer_lines.h. A restart has words of its own
// only if it stored anything.
//
// Where no operation is marked, the stretch between two ordering points takes its place: all
// of what was stored in it, or none. That is a guess, so whatever departs from it is only suspected.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "judge/answer_lines.h"
#include "judge/state_judge.h"
#include "judge/state_probe.h"
#include "model/tracked_bytes.h"
#include "run/patience.h"

namespace blackout {

struct ExpectedAnswer {
  enum class Basis : std::uint8_t {
    None,       // nothing can be said
    Stretch,    // what was stored between two ordering points, all or nothing
    Operation,  // a marked one
    Ended,      // marked ones that had ended, where no other is under way, or several are
  };
  Basis basis = Basis::None;
  OutcomeNo before = 0;
  OutcomeNo after = 0;
  OutcomeNo least = 0;    // of a stretch: with nothing but what is guaranteed
  std::string operation;  // its name

  // Whether it is one of these itself, so that nothing need be compared.
  bool has(OutcomeNo o) const { return basis != Basis::None && (o == before || o == after || o == least); }
};

class ExpectedAnswers {
 public:
  // All must outlive it. `probe` judges by the same oracle. `neighbours`: points have one stretch between them.
  // `final`: the answer of a restart on what the program left; null: it is not known, or was wrong.
  ExpectedAnswers(StateProbe& probe, const Baseline& baseline, OracleJudge& oracle, bool neighbours,
                  const Outcome* final = nullptr, Patience patience = {});

  // Whether all recoveries said the same: then nothing depends on what a crash leaves.
  bool oneAnswer() const { return oneAnswer_; }
  // Whether the program said what its operations or transactions are.
  bool marked() const { return !units_.empty(); }

  // What a restart after this crash may say. Of an exploration that a clock or an interrupt ended only crashes that are
  // explored completely are judged.
  Result<ExpectedAnswer> at(SpaceNo space);
  // The same for a recovery, which may have lost what only this one must not.
  ExpectedAnswer of(SpaceNo space, RecoveryNo recovery);
  // Whether all that restarts say after this crash was compared with what they may say.
  bool compared(SpaceNo space);
  // Whether the answer is one of these. `ownWords`: the restart may have some, as it stored to persistent memory.
  bool allows(const ExpectedAnswer& expected, const Outcome& outcome, bool ownWords);
  // Whether a crash that leaves `chosen` loses of these bytes what an operation that had ended had stored, and had made
  // of them: what it found to be there as it left it is a state of its own, such as a flag that says it is under way.
  bool losesPromised(SpaceNo space, const ChosenVersions& chosen, TrackedNo line, std::uint64_t mask);
  // What right answers look like, as far as they were explored completely.
  const AnswerLines& lines();
  // Whether restarts after this crash say something that they say neither with all nor with nothing of it durable, and
  // what they may say is not known: several threads were at work, or it is a crash in a restart.
  Result<bool> unjudged(SpaceNo space);
  // Whether several threads stored while others were there that did so too. That depends on when they were created and
  // ended, and not on how they took turns.
  bool severalThreads() const;

 private:
  // Threads, or 0, and the number of a transaction that is several threads'.
  using Owner = std::pair<ThreadNo, std::uint64_t>;
  // What is all or nothing: an operation, or a transaction.
  struct Unit {
    EventNo begin = 0;
    EventNo end = kNever;
    std::string name;
    Owner owner;
  };
  void findTransactions();
  // The unit at this point that began last, which is the innermost one if it is `alone`; null: none.
  const Unit* underWay(EventNo at) const;
  // Whether nobody else did anything in the meantime.
  bool alone(const Unit& unit) const;
  bool ofOneThread(SpaceNo space) const;
  Result<void> ofUnit(const Unit& unit, ExpectedAnswer& expected);
  std::optional<ExpectedAnswer> afterEnded(SpaceNo space, RecoveryNo recovery);
  bool same(const Outcome& answer, const Outcome& right, bool ownWords);
  // The outcome with everything persisted that was stored before `end`; none: no explored crash has that.
  Result<std::optional<OutcomeNo>> wholeAt(SpaceNo space, EventNo end);

  StateProbe& probe_;
  Explorer& explorer_;
  const Baseline& baseline_;
  OracleJudge& oracle_;
  bool neighbours_;
  Patience patience_;
  bool oneAnswer_ = true;
  std::vector<Unit> units_;  // of all threads, by their begins
  std::map<SpaceNo, ExpectedAnswer> known_;
  std::map<SpaceNo, bool> byEnded_;  // no operation is under way there, or several that overlap
  const Outcome* final_;
  std::optional<AnswerLines> lines_;  // once somebody asked
};

}  // namespace blackout
