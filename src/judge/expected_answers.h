// What a restart may say. A crash in the middle of an operation must leave what a crash before it would have left, or
// one after it: so those are restarted too, with everything persisted, and what they say (how they end and what they
// print) are the two legal answers. A difference between these two is what every correct update looks like.
//
// An operation is the innermost one that is under way, or a transaction that a library announces. If it overlaps
// others, any mixture of them is right, so nothing is said. Nor is anything said of a crash in a restart: what that had
// done by itself is no part of the operation that the first crash cut.
//
// Recovery may say in words what it did. So lines that an answer has more than a legal one do not make it wrong, if the
// restart stored anything.
//
// Where no operation is marked, the stretch between two ordering points takes its place: all
// of what was stored in it, or none. That is a guess, so whatever departs from it is only suspected.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "judge/state_judge.h"
#include "model/tracked_bytes.h"

namespace blackout {

struct ExpectedAnswer {
  enum class Basis : std::uint8_t {
    None,       // nothing can be said
    Stretch,    // what was stored between two ordering points, all or nothing
    Operation,  // a marked one
  };
  Basis basis = Basis::None;
  OutcomeNo before = 0;
  OutcomeNo after = 0;
  OutcomeNo least = 0;    // of a stretch: with nothing but what is guaranteed
  std::string operation;  // its name
};

class ExpectedAnswers {
 public:
  // All must outlive it. `neighbours`: points have one stretch between them.
  ExpectedAnswers(Explorer& explorer, const Baseline& baseline, OracleJudge& oracle, bool neighbours);

  // Whether all recoveries said the same: then nothing depends on what a crash leaves.
  bool oneAnswer() const { return oneAnswer_; }
  // Whether the program said what its operations or transactions are.
  bool marked() const { return !units_.empty(); }

  // What a restart after this crash may say.
  Result<ExpectedAnswer> at(SpaceNo space);
  // `stored`: the restart stored to persistent memory.
  Result<bool> allows(SpaceNo space, const Outcome& outcome, bool stored);
  // Whether restarts after this crash say something that they say neither with all nor with nothing of it durable, and
  // what they may say is not known: several threads were at work, or it is a crash in a restart.
  Result<bool> unjudged(SpaceNo space);

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
  Result<bool> ofUnit(const Unit& unit, ExpectedAnswer& expected);
  // The outcome with everything persisted that was stored before `end`; none: no explored crash has that.
  Result<std::optional<OutcomeNo>> wholeAt(SpaceNo space, EventNo end);

  Explorer& explorer_;
  const Baseline& baseline_;
  OracleJudge& oracle_;
  bool neighbours_;
  bool oneAnswer_ = true;
  std::vector<Unit> units_;  // of all threads, by their begins
  std::map<SpaceNo, ExpectedAnswer> known_;
};

}  // namespace blackout
