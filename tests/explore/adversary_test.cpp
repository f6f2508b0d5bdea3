// The states of an update of which one side is durable, and the other is not: what the restriction leaves of each line.
#include "explore/adversary.h"

#include <gtest/gtest.h>

#include <map>

#include "events/trace.h"
#include "explore/crash_space.h"
#include "explore/space_memory.h"
#include "model/index.h"
#include "tiny_program.h"

namespace blackout::test {
namespace {

// Two entries and their counter, each in a line of its own, flushed together.
class OneSided : public ::testing::Test {
 protected:
  EventNo entry() { return p.store(1, 0, 1); }
  EventNo counter() { return p.store(1, 64, 1); }
  void flush() {
    for (std::uint64_t offset : {0, 64, 128}) p.clwb(1, offset);
  }

  // The first bytes of the three lines in the state just before the fence; empty: there is no such state. What is not
  // restricted is newest.
  Bytes state(const std::vector<EventNo>& kept, const std::vector<EventNo>& lost) {
    p.sfence(1);
    const Index& index = p.index();
    const std::vector<EventNo> points = index.points(PointsMode::Enough);
    TrackedBytes tracked = TrackedBytes::of(index);
    Baseline baseline(index, tracked, points);
    FirstCrash first(baseline);
    PointNo last(points.size() - 1);
    while (points[last.value()] > fence()) --last;
    CrashSpace space(first, last);
    std::optional<Restriction> r = restrictionOf(OneSidedTest{last, kept, lost}, space);
    if (!r) return {};
    EXPECT_EQ(r->unnamed, Unrestricted::Newest);
    Bytes bytes;
    for (std::uint64_t offset : {0, 64, 128}) {
      TrackedNo w = tracked.find(lineOf(p.at(offset)));
      if (w == TrackedBytes::kNone) {
        bytes.push_back(0);
        continue;
      }
      std::uint32_t version = space.line(w).newest;
      for (const auto& [named, allowed] : r->allowed) {
        EXPECT_EQ(allowed.size(), 1U);
        if (named == w) version = allowed.front();
      }
      bytes.push_back(static_cast<int>(space.line(w).versions[version].bytes[0]));
    }
    return bytes;
  }
  EventNo fence() {
    EventNo n = 0;
    while (kindOf(p.index().trace()[n]) != EventKind::Sfence) ++n;
    return n;
  }

  TinyProgram p;
};

TEST_F(OneSided, OneSideIsLostAndAllElseIsDurable) {
  EventNo e = entry(), c = counter();
  p.store(1, 128, 9);
  flush();
  EXPECT_EQ(state({c}, {e}), (Bytes{0, 1, 9}));
}

TEST_F(OneSided, TheOtherSideIsAsWell) {
  EventNo e = entry(), c = counter();
  p.store(1, 128, 9);
  flush();
  EXPECT_EQ(state({e}, {c}), (Bytes{1, 0, 9}));
}

// Of a line the stores before the lost one are kept.
TEST_F(OneSided, WhatTheLineHeldBeforeStays) {
  p.store(1, 0, 5);
  EventNo e = entry(), c = counter();
  flush();
  EXPECT_EQ(state({c}, {e}), (Bytes{5, 1, 0}));
}

// A line keeps what was stored first: without the first store there is no second one.
TEST_F(OneSided, ThereIsNoStateWithoutWhatIsBelowItInItsLine) {
  EventNo e = entry();
  EventNo c = p.store(1, 8, 1);
  flush();
  EXPECT_EQ(state({c}, {e}), Bytes{});
}

TEST_F(OneSided, ThereIsNoStateWithoutWhatIsDurable) {
  EventNo e = entry();
  p.clwb(1, 0);
  p.sfence(1);
  EventNo c = counter();
  flush();
  // The last fence is the second one.
  p.sfence(1);
  const Index& index = p.index();
  const std::vector<EventNo> points = index.points(PointsMode::Enough);
  TrackedBytes tracked = TrackedBytes::of(index);
  Baseline baseline(index, tracked, points);
  FirstCrash first(baseline);
  for (PointNo n : idRange<PointNo>(points.size()))
    if (points[n.value()] > c) EXPECT_FALSE(restrictionOf(OneSidedTest{n, {c}, {e}}, CrashSpace(first, n)));
}

}  // namespace
}  // namespace blackout::test
