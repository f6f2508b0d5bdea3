// The table of operations: nesting, threads, ends without a begin, operations that never end; and random interleavings
// against a matcher that looks for each answer by itself.
#include "model/operations.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "events/trace.h"
#include "tiny_program.h"

namespace blackout::test {
namespace {

TEST(Operations, NestWithinTheirThread) {
  TinyProgram p;
  EventNo before = p.store(1, 0, 1);
  EventNo begin = p.opBegin(1, "outer");
  EventNo innerBegin = p.opBegin(1, "inner");
  EventNo inside = p.store(1, 0, 2);
  EventNo other = p.store(2, 0, 3);
  EventNo innerEnd = p.opEnd(1);
  EventNo still = p.store(1, 0, 4);
  EventNo end = p.opEnd(1);
  EventNo after = p.store(1, 0, 5);
  EventNo openBegin = p.opBegin(1, "open");
  EventNo last = p.store(1, 0, 6);
  Operations operations(p.trace());

  ASSERT_EQ(operations.count(), 3U);
  EXPECT_EQ(operations[0].name, "outer");
  EXPECT_EQ(operations[0].parent, kNoOperation);
  EXPECT_EQ(operations[0].depth, 0U);
  EXPECT_EQ(operations[0].begin, begin);
  EXPECT_EQ(operations[0].end, end);
  EXPECT_EQ(operations[1].name, "inner");
  EXPECT_EQ(operations[1].parent.value(), 0U);
  EXPECT_EQ(operations[1].depth, 1U);
  EXPECT_EQ(operations[1].end, innerEnd);
  EXPECT_EQ(operations[2].end, kNever);
  EXPECT_EQ(operations[2].parent, kNoOperation);

  for (EventNo n : {before, after}) EXPECT_EQ(operations.innermost(1, n), nullptr) << n;
  for (EventNo n : {before, after}) EXPECT_EQ(operations.outermost(1, n), nullptr) << n;
  EXPECT_EQ(operations.outermost(2, other), nullptr);
  EXPECT_EQ(operations.innermost(7, other), nullptr) << "a thread that marks nothing";
  for (EventNo n : {innerBegin, inside, innerEnd}) EXPECT_EQ(operations.innermost(1, n), &operations[1]) << n;
  for (EventNo n : {begin, still, end}) EXPECT_EQ(operations.innermost(1, n), &operations[0]) << n;
  for (EventNo n : {begin, inside, innerEnd, still, end}) EXPECT_EQ(operations.outermost(1, n), &operations[0]) << n;
  for (EventNo n : {openBegin, last}) EXPECT_EQ(operations.outermost(1, n), &operations[2]) << n;
  EXPECT_EQ(operations.latest(1, before), nullptr);
  EXPECT_EQ(operations.latest(1, after), &operations[1]);
  EXPECT_EQ(&operations.outermost(operations[1]), &operations[0]);
  EXPECT_EQ(operations.numberOf(operations[1]).value(), 1U);
  EXPECT_EQ(p.index().operationOf(inside)->begin, begin);
  EXPECT_EQ(p.index().operationOf(other), nullptr);
}

TEST(Operations, AnEndWithoutABeginIsNobodys) {
  TinyProgram p;
  p.opEnd(1);
  p.opBegin(1, "a");
  p.opEnd(2);
  EventNo end = p.opEnd(1);
  p.opEnd(1);
  p.opBegin(1, "b");
  Operations operations(p.trace());
  ASSERT_EQ(operations.count(), 2U);
  EXPECT_EQ(operations[0].end, end);
  EXPECT_EQ(operations[1].parent, kNoOperation);
  EXPECT_EQ(operations[1].end, kNever);
}

TEST(Operations, APointIsBeforeItsEvent) {
  TinyProgram p;
  EventNo begin = p.opBegin(1);
  EventNo end = p.opEnd(1);
  Operations operations(p.trace());
  EXPECT_EQ(operations.stateAt(0, begin), OperationState::NotBegun);
  EXPECT_EQ(operations.stateAt(0, p.trace().next(begin)), OperationState::UnderWay);
  EXPECT_EQ(operations.stateAt(0, end), OperationState::UnderWay);
  EXPECT_EQ(operations.stateAt(0, end + 1), OperationState::Ended);
}

TEST(Operations, HaveArgumentsAndResultsOfAnyKind) {
  TinyProgram p;
  Values arguments{Value::ofText("key"), Value::ofSigned(-3)};
  auto values = [&](ThreadNo t, const Values& v, unsigned len) {
    p.writer.blob(EventKind::OpValues, t, 0, encodeValues(v), len);
  };
  p.writer.blob(EventKind::OpBegin, 1, 42, "plain");
  p.writer.event(EventKind::OpEnd, 1, 0, 43);
  values(1, arguments, BLACKOUT_VALUES_ARGUMENTS);
  values(2, {}, BLACKOUT_VALUES_ARGUMENTS);  // of another thread, in between
  p.writer.blob(EventKind::OpBegin, 1, 0, "put", BLACKOUT_OP_VALUES);
  p.writer.blob(EventKind::OpBegin, 2, 0, "none", BLACKOUT_OP_VALUES);
  p.writer.event(EventKind::OpEnd, 2, 0, 44);
  values(1, {Value::ofBytes("old")}, BLACKOUT_VALUES_RESULTS);
  p.writer.event(EventKind::OpEnd, 1, 0, 0, BLACKOUT_OP_VALUES);
  p.opBegin(1);
  Operations operations(p.trace());
  ASSERT_EQ(operations.count(), 4U);
  EXPECT_EQ(operations.arguments(0), Values{Value::ofUnsigned(42)});
  EXPECT_EQ(operations.results(0), Values{Value::ofUnsigned(43)});
  EXPECT_EQ(operations.arguments(1), arguments);
  EXPECT_EQ(operations.results(1), Values{Value::ofBytes("old")});
  EXPECT_EQ(operations.arguments(2), Values());
  EXPECT_EQ(operations.results(2), Values{Value::ofUnsigned(44)});
  EXPECT_EQ(operations.results(3), std::nullopt);
}

// What was open for the thread just after event n (its end included: the one that ends there still counts), read from
// the beginning each time.
std::vector<EventNo> openAt(const Trace& trace, ThreadNo thread, EventNo n) {
  std::vector<EventNo> open;
  for (EventNo i = 0; i < trace.end() && i <= n; i = trace.next(i)) {
    if (threadOf(trace[i]) != thread) continue;
    if (kindOf(trace[i]) == EventKind::OpBegin) open.push_back(i);
    if (kindOf(trace[i]) == EventKind::OpEnd && !open.empty() && i != n) open.pop_back();
  }
  return open;
}

// The event that ends what begins at `begin`: the first at which as many of the thread have ended as have begun since.
EventNo endOf(const Trace& trace, EventNo begin) {
  int depth = 0;
  for (EventNo i = begin; i < trace.end(); i = trace.next(i)) {
    if (trace[i].thread != trace[begin].thread) continue;
    if (kindOf(trace[i]) == EventKind::OpBegin) ++depth;
    if (kindOf(trace[i]) == EventKind::OpEnd && --depth == 0) return i;
  }
  return kNever;
}

TEST(Operations, AreWhatANaiveMatcherFinds) {
  ASSERT_TRUE(rc::check([] {
    TinyProgram p;
    auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
        rc::gen::pair(rc::gen::inRange(0, 3), rc::gen::inRange(0, 4)));
    for (auto [what, thread] : steps) {
      auto t = static_cast<ThreadNo>(thread);
      if (what == 0) p.opBegin(t);
      if (what == 1) p.opEnd(t);
      if (what == 2) p.store(t, 0, 1);
    }
    const Trace& trace = p.trace();
    Operations operations(trace);
    OperationNo number = 0;
    for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
      if (kindOf(trace[n]) == EventKind::OpBegin) {
        const Operation& o = operations[number++];
        std::vector<EventNo> open = openAt(trace, threadOf(trace[n]), n);
        RC_ASSERT(o.begin == n && o.end == endOf(trace, n) && o.thread == threadOf(trace[n]));
        RC_ASSERT(o.depth == open.size() - 1);
        bool nested = open.size() > 1;
        RC_ASSERT((o.parent != kNoOperation) == nested);
        if (nested) RC_ASSERT(operations[o.parent].begin == open[open.size() - 2]);
      }
      for (ThreadNo t = 0; t < 5; ++t) {
        std::vector<EventNo> open = openAt(trace, t, n);
        const Operation* inner = operations.innermost(t, n);
        const Operation* outer = operations.outermost(t, n);
        RC_ASSERT((inner == nullptr) == open.empty() && (outer == nullptr) == open.empty());
        if (!open.empty()) RC_ASSERT(inner->begin == open.back() && outer->begin == open.front());
      }
    }
    RC_ASSERT(operations.count() == number.value());
  }));
}

}  // namespace
}  // namespace blackout::test
