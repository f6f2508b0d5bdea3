// Restarts whose answers have no order, by what had been promised when the power failed.
#include "judge/order_judge.h"

#include <gtest/gtest.h>

#include "judged_restarts.h"

namespace blackout::test {
namespace {

// A register: 5 is written, and made durable before the operation ends, or never.
struct Written : JudgedProgram {
  explicit Written(bool durable, const char* specification = "register") {
    if (specification != nullptr) {
      std::string name = encodeValues(Values{Value::ofText(specification)});
      writer.blob(EventKind::OpValues, 1, 0, name, BLACKOUT_VALUES_ARGUMENTS);
      writer.blob(EventKind::OpBegin, 1, 0, "specification", BLACKOUT_OP_VALUES);
      opEnd(1);
    }
    writer.blob(EventKind::OpBegin, 1, 5, "write");
    storeAt(place(1), 0, 5);
    if (durable) {
      clwb(1, 0);
      sfence(1);
    }
    opEnd(1);
    storeAt(place(2), 64, 1);
    clwb(1, 64);
    sfence(1);
  }
};

Outcome reads(FakeMemory& m) {
  m.load(64, 8, 102);
  Outcome o;
  HistoryOperation read;
  read.thread = 1;
  read.name = "read";
  read.results = {Value::ofUnsigned(m.load(0, 8, 101))};
  read.ended = 1;
  o.history.push_back(read);
  return o;
}

// And then it fails, if what it read is 0.
Outcome readsAndDies(FakeMemory& m) {
  Outcome o = reads(m);
  if (o.history[0].results[0].number == 0) {
    o.ending = Ending::Signalled;
    o.code = 11;
  }
  return o;
}

struct Orders {
  Orders(JudgedProgram& p, const FakeRecovery& recovery, lin::Criterion criterion = lin::Criterion::Durable)
      : restarts(p, recovery),
        rules(orderRulesOf(restarts.index.operations(), criterion).value()),
        traces(restarts.explorer, restarts.index),
        judge(restarts.explorer, restarts.index, traces, restarts.oracle, rules.value()) {}

  // The ways in which restarts fail, over all crashes.
  std::set<std::string> failures() {
    std::set<std::string> out;
    for (SpaceNo s : idRange<SpaceNo>(restarts.explorer.spaceCount()))
      for (RecoveryNo r : restarts.explorer.space(s).recoveries)
        if (const Verdict& v = judge.verdict(s, r); v.judgement != Judgement::Fine) out.insert(v.symptom);
    return out;
  }
  JudgedRestarts restarts;
  std::optional<OrderRules> rules;
  CrashTraces traces;
  OrderJudge judge;
};

const char* const kLost = "answers what no order of the operations explains: read() = 0";

TEST(OrderJudge, WhatIsDurableWhenItReturnsIsRight) {
  Written p(true);
  Orders o(p, reads);
  EXPECT_EQ(o.failures(), std::set<std::string>());
}

TEST(OrderJudge, WhatHadReturnedAndIsLostIsWrong) {
  Written p(false);
  Orders o(p, reads);
  EXPECT_EQ(o.failures(), std::set<std::string>{kLost});
  // Inside the operation both answers are right.
  EXPECT_EQ(o.judge.verdict(0, o.restarts.explorer.space(0).recoveries[0]).judgement, Judgement::Fine);
  SpaceNo last = o.restarts.last();
  for (RecoveryNo r : o.restarts.explorer.space(last).recoveries) {
    const Outcome& outcome = o.restarts.explorer.outcome(o.restarts.explorer.outcomeNo(r));
    auto none = o.judge.noOrder(last, outcome);
    EXPECT_EQ(none.has_value(), outcome.history[0].results[0].number == 0);
    if (!none) continue;
    EXPECT_EQ(none->structure, "register");
    ASSERT_EQ(none->operations.size(), 2U);
    EXPECT_EQ(none->operations[0].operation.name, "write");
    EXPECT_TRUE(none->operations[0].explained);
    EXPECT_EQ(none->operations[1].run, 1U);
    EXPECT_EQ(none->contradiction, 1U);
    EXPECT_EQ(none->possible, std::vector<Values>{{Value::ofUnsigned(5)}});
  }
  Orders buffered(p, reads, lin::Criterion::Buffered);
  EXPECT_EQ(buffered.failures(), std::set<std::string>());
}

TEST(OrderJudge, AWrongAnswerBeforeAFailureCameFirst) {
  Written p(false);
  Orders o(p, readsAndDies);
  std::set<std::string> found = o.failures();
  EXPECT_TRUE(found.contains(std::string(kLost) + ", and then crashes with SIGSEGV"));
  EXPECT_TRUE(found.contains("crashes with SIGSEGV"));  // where 0 is a right answer
}

TEST(OrderJudge, ASpecificationThatDoesNotFitIsNotBelieved) {
  Written p(true);
  Orders o(p, reads);
  Outcome intact;
  EXPECT_EQ(o.judge.fits(intact).error().sentence.find("restarts record no operations"), 0U);
  HistoryOperation read;
  read.name = "read";
  read.ended = 1;
  read.results = {Value::ofUnsigned(5)};
  intact.history = {read};
  EXPECT_TRUE(o.judge.fits(intact));
  intact.history[0].results[0].number = 6;
  EXPECT_NE(o.judge.fits(intact).error().sentence.find("recovery is missing"), std::string::npos);
  intact.history[0].name = "peek";
  EXPECT_EQ(o.judge.fits(intact).error().sentence, "a register has no operation \"peek\"");
}

// Thread 2 reads what thread 1 has written and not made durable, while the write is under way: it is the witness. What
// returned before that, `before` if there is any, saw nothing of it.
struct SeenEarly : JudgedProgram {
  explicit SeenEarly(std::optional<std::uint64_t> before, bool kept = true,
                     std::optional<std::uint64_t> replaced = {}) {
    std::string name = encodeValues(Values{Value::ofText("register")});
    writer.blob(EventKind::OpValues, 1, 0, name, BLACKOUT_VALUES_ARGUMENTS);
    writer.blob(EventKind::OpBegin, 1, 0, "specification", BLACKOUT_OP_VALUES);
    opEnd(1);
    if (before) {
      writer.blob(EventKind::OpBegin, 1, *before, "write");
      if (kept) {
        storeAt(place(3), 0, *before);
        persist(0);
      }
      opEnd(1);
    }
    writer.blob(EventKind::OpBegin, 1, 5, "write");
    if (replaced) {
      writer.blob(EventKind::OpBegin, 2, *replaced, "write");
      storeAt(place(4), 0, *replaced, 8, 2);
      persist(0, 2);
      opEnd(2);
    }
    storeAt(place(1), 0, 5);
    writer.blob(EventKind::OpValues, 2, 0, encodeValues({}), BLACKOUT_VALUES_ARGUMENTS);
    writer.blob(EventKind::OpBegin, 2, 0, "read", BLACKOUT_OP_VALUES);
    writer.blob(EventKind::OpValues, 2, 0, encodeValues(Values{Value::ofUnsigned(5)}), BLACKOUT_VALUES_RESULTS);
    writer.event(EventKind::OpEnd, 2, 0, 0, BLACKOUT_OP_VALUES);
    storeAt(place(2), 64, 1, 8, 2);
    persist(64, 2);
    persist(0);
    opEnd(1);
  }
  // The witnesses of each restart that reads this, by their results; one list for all.
  std::set<std::vector<std::string>> witnesses(std::uint64_t read) {
    Orders o(*this, reads);
    std::set<std::vector<std::string>> all;
    for (SpaceNo s : idRange<SpaceNo>(o.restarts.explorer.spaceCount()))
      for (RecoveryNo r : o.restarts.explorer.space(s).recoveries) {
        const Outcome& outcome = o.restarts.explorer.outcome(o.restarts.explorer.outcomeNo(r));
        auto none = o.judge.noOrder(s, outcome);
        if (!none || outcome.history[0].results[0].number != read) continue;
        std::vector<std::string> names;
        for (std::uint32_t w : none->witnesses)
          names.push_back(none->operations[w].operation.name + " of thread " +
                          std::to_string(none->operations[w].thread));
        all.insert(names);
      }
    return all;
  }
};

TEST(OrderJudge, WhoSawWhatWasNotDurableIsTheWitness) {
  using Names = std::set<std::vector<std::string>>;
  EXPECT_EQ(SeenEarly({}).witnesses(0), Names{{"read of thread 2"}});
  EXPECT_EQ(SeenEarly(7).witnesses(7), Names{{"read of thread 2"}});
  // What had returned before is lost as well: that nobody saw anything too early is no excuse.
  EXPECT_EQ(SeenEarly(7, false).witnesses(0), Names{{}});
}

// Two operations of thread 2 are acknowledged while that of thread 1 is under way: a write that is durable, and a read
// of what replaced it. Neither has to have happened before the crash; both may have.
TEST(OrderJudge, WitnessesMayHaveHappened) {
  SeenEarly p({}, true, 9);
  EXPECT_EQ(p.witnesses(9), (std::set<std::vector<std::string>>{{"write of thread 2", "read of thread 2"}}));
}

TEST(OrderJudge, WhatTheProgramIsComesFromItsOperations) {
  Written unknown(true, "tree");
  EXPECT_FALSE(orderRulesOf(unknown.index().operations(), lin::Criterion::Durable));
  Written silent(true, nullptr);
  EXPECT_FALSE(orderRulesOf(silent.index().operations(), lin::Criterion::Durable)->has_value());
  Written own(true, "own");
  EXPECT_FALSE(orderRulesOf(own.index().operations(), lin::Criterion::Durable)->has_value());
  EXPECT_TRUE(judgesItself(own.index().operations()));
  EXPECT_FALSE(judgesItself(unknown.index().operations()));
  EXPECT_FALSE(judgesItself(silent.index().operations()));
}

}  // namespace
}  // namespace blackout::test
