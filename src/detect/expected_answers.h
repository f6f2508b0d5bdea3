// What a restart may say. A crash in the middle of an operation must leave what a crash before it would have left, or
// one after it: so those are restarted too, with everything persisted, and what they say (how they end and what they
// print) are the two legal answers. A difference between these two is what every correct update looks like.
//
// Where no operation is marked, or several are under way, the stretch between two ordering points takes its place: all
// of what was stored in it, or none. That is a guess, so whatever departs from it is only suspected.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "detect/state_judge.h"
#include "explore/watched.h"

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
  bool marked() const { return !operations_.empty(); }

  // What a restart after this crash may say. A crash in a recovery belongs to the operation that the first one cut.
  Result<ExpectedAnswer> at(SpaceNo space);
  Result<bool> allows(SpaceNo space, const Outcome& outcome);

 private:
  struct Operation {
    EventNo begin = 0;
    EventNo end = kNever;
    std::string name;
  };
  void findOperations();
  const Operation* underWay(EventNo at, bool& several) const;
  Result<bool> ofOperation(const Operation& operation, ExpectedAnswer& expected);
  // The outcome with everything persisted that was stored before `end`; none: no explored crash has that.
  Result<std::optional<OutcomeNo>> wholeAt(SpaceNo space, EventNo end);

  Explorer& explorer_;
  const Baseline& baseline_;
  OracleJudge& oracle_;
  bool neighbours_;
  bool oneAnswer_ = true;
  std::vector<Operation> operations_;  // outermost ones of all threads, by their begin
  std::map<SpaceNo, ExpectedAnswer> known_;
};

}  // namespace blackout
