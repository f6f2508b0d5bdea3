// What a report shows of a recorded run around its findings: the events that are asked for and no others, the
// operations, and at each point what the model says a crash may leave.
#include "report/trace_windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "events/trace.h"
#include "tiny_program.h"

namespace blackout {
namespace {

using test::TinyProgram;
using ::testing::ElementsAre;

SeenStore seen(EventNo event) {
  SeenStore s;
  s.event = event;
  return s;
}

// A crash just before `crash` that loses the store at `lost`.
Finding shown(EventNo lost, EventNo crash) {
  CrashCause cause;
  cause.kind = FindingKind::MissingFlush;
  cause.first = seen(lost);
  Finding f = makeFinding(FindingKind::MissingFlush, cause);
  f.shownBy = ShownBy{"crashes", 0, {{1, crash, 0, {seen(lost)}}}, 1, 1, {}};
  return f;
}

std::vector<std::uint32_t> numbersOf(const SeenTrace& trace) {
  std::vector<std::uint32_t> out;
  for (const SeenEvent& e : trace.events) out.push_back(e.event.value());
  return out;
}

std::uint64_t told(const SeenTrace& trace) {
  std::uint64_t n = 0;
  for (const SeenEvent& e : trace.events) n += 1 + e.skipped;
  return n;
}

// An operation that stores to `count` lines of its own and flushes each; returns the events of the stores.
std::vector<EventNo> work(TinyProgram& p, unsigned count) {
  std::vector<EventNo> stores;
  p.opBegin(1, "insert");
  for (unsigned i = 0; i < count; ++i) {
    stores.push_back(p.store(1, 64 * (i % 32), i + 1));
    p.clwb(1, 64 * (i % 32));
    p.sfence(1);
  }
  p.opEnd(1);
  return stores;
}

TEST(TraceWindows, OnlyWhatIsAskedFor) {
  TinyProgram p;
  std::vector<EventNo> stores = work(p, 40);
  const Index& index = p.index();
  Report report;
  report.findings = {shown(stores[30], stores[31])};
  addTraceWindows(report, index, 0);
  EXPECT_TRUE(report.traces.empty());
  EXPECT_EQ(report.findings[0].trace, 0U);

  addTraceWindows(report, index, 12);
  ASSERT_EQ(report.traces.size(), 1U);
  EXPECT_EQ(report.findings[0].trace, 1U);
  const SeenTrace& trace = report.traces[0];
  EXPECT_LE(trace.events.size(), 12U);
  EXPECT_TRUE(std::is_sorted(trace.events.begin(), trace.events.end(),
                             [](const SeenEvent& a, const SeenEvent& b) { return a.event < b.event; }));
  EXPECT_THAT(numbersOf(trace), ::testing::IsSupersetOf({stores[30].value(), stores[31].value()}));
  EXPECT_GT(trace.events.front().skipped, 0U);
  EXPECT_LT(told(trace), trace.total);
  // One is right before the other: half of what is asked for is there all the same.
  EXPECT_GE(trace.events.size(), 6U);
  ASSERT_EQ(trace.operations.size(), 1U);
  EXPECT_EQ(trace.operations[0].name, "insert");
  EXPECT_TRUE(trace.operations[0].end);
}

TEST(TraceWindows, AllOfThemInTheirOrder) {
  TinyProgram p;
  std::vector<EventNo> stores = work(p, 5);
  const Index& index = p.index();
  Report report;
  report.findings = {shown(stores[1], stores[2]), shown(stores[3], p.end())};
  addTraceWindows(report, index, 1000000);
  ASSERT_EQ(report.traces.size(), 1U);
  const SeenTrace& trace = report.traces[0];
  std::vector<std::uint32_t> all;
  for (EventNo n = 0; n < p.end(); n = p.trace().next(n))
    if (groupOf(p.trace()[n]) != EventGroup::Table) all.push_back(n.value());
  EXPECT_EQ(numbersOf(trace), all);
  EXPECT_EQ(trace.total, all.size());
  auto store =
      std::find_if(trace.events.begin(), trace.events.end(), [&](const SeenEvent& e) { return e.event == stores[1]; });
  ASSERT_NE(store, trace.events.end());
  EXPECT_EQ(store->what, "1 byte at offset 0x40 of pool = 2 (was 0)");
  EXPECT_EQ((store + 1)->what, "the line at offset 0x40 of pool");
}

TEST(TraceWindows, WhatNamesNoEventGetsNothing) {
  TinyProgram p;
  work(p, 3);
  Report report;
  report.findings = {makeFinding(FindingKind::IdleFence)};
  addTraceWindows(report, p.index(), 100);
  EXPECT_TRUE(report.traces.empty());
  EXPECT_EQ(report.findings[0].trace, 0U);
}

// Every figure of a point against the model's answers for all lines of the pool.
void expectAsTheModelSays(const Index& index, const SeenPoint& point) {
  double log10 = 0;
  std::uint64_t uncertain = 0;
  for (LineId id : idRange<LineId>(index.lineCount())) {
    LineNo line = index.lineNo(id);
    LineVersions versions = index.versionsOf(line, point.event);
    std::vector<EventNo> open;
    std::uint64_t stores = 0;
    for (StoreNo s : index.history(id)) {
      const StoreRow& row = index.stores()[s];
      if (row.event >= point.event) break;
      ++stores;
      if (row.guaranteedAt >= point.event) open.push_back(row.event);
    }
    uncertain += !open.empty();
    log10 += std::log10(static_cast<double>(versions.downSets));
    auto at = std::find_if(point.lines.begin(), point.lines.end(),
                           [&](const SeenLine& l) { return l.offset == offsetOf(addressOf(line)); });
    if (at == point.lines.end()) {
      EXPECT_TRUE(open.empty() || point.lines.size() == 16) << point.event;
      continue;
    }
    EXPECT_EQ(at->open, open) << point.event;
    EXPECT_EQ(at->stores, stores);
    EXPECT_EQ(at->guaranteed, stores - open.size());
    EXPECT_EQ(at->sets, versions.downSets);
    EXPECT_TRUE(at->all);
  }
  EXPECT_EQ(point.uncertain, uncertain);
  EXPECT_NEAR(point.log10Sets, log10, 1e-6);
}

TEST(TraceWindows, PointsAreAsTheModelSays) {
  TinyProgram p;
  std::vector<EventNo> stores;
  for (unsigned i = 0; i < 30; ++i) {
    stores.push_back(p.store(1, 64 * (i % 7) + i % 8, i + 1));
    if (i % 4 != 0) p.clwb(1, 64 * (i % 7));
    if (i % 3 == 0) p.nt(1, 64 * (i % 5) + 8, i);
    if (i % 2 == 0) p.sfence(1);
  }
  const Index& index = p.index();
  Report report;
  report.findings = {shown(stores[20], stores[22])};
  addTraceWindows(report, index, 10);
  ASSERT_EQ(report.traces.size(), 1U);
  const std::vector<SeenPoint>& points = report.traces[0].points;
  ASSERT_GT(points.size(), 5U);
  EXPECT_LE(points.size(), 25U);
  EXPECT_TRUE(std::any_of(points.begin(), points.end(), [&](const SeenPoint& s) { return s.event == stores[22]; }));
  std::uint64_t sets = 0;
  for (const SeenPoint& point : points) {
    expectAsTheModelSays(index, point);
    for (const SeenLine& l : point.lines) sets = std::max(sets, l.sets);
    // The line that the finding names is there from its first store on, uncertain or not.
    EXPECT_EQ(
        std::any_of(point.lines.begin(), point.lines.end(), [](const SeenLine& l) { return l.offset == 64UL * 6; }),
        point.event > stores[6]);
  }
  EXPECT_GT(sets, 2U);
}

TEST(TraceWindows, ManyLinesAreCountedAndSomeAreNamed) {
  TinyProgram p;
  for (unsigned i = 0; i < 40; ++i) p.store(1, 64 * i, i + 1);
  EventNo last = p.store(1, 64 * 50, 1);
  EventNo crash = p.sfence(1);
  Report report;
  report.findings = {shown(last, crash)};
  addTraceWindows(report, p.index(), 10);
  ASSERT_EQ(report.traces.size(), 1U);
  const SeenPoint& at = report.traces[0].points.front();
  EXPECT_EQ(at.uncertain, 41U);
  EXPECT_EQ(at.lines.size(), 16U);
  EXPECT_EQ(at.lines.back().offset, 64U * 50);
}

// Recordings add up: each finding keeps what is shown of its own, and what belongs to none goes.
TEST(TraceWindows, TracesOfASumAreThoseOfItsFindings) {
  auto of = [](std::uint64_t total, FindingKind kind) {
    Report r;
    r.command = {"x"};
    r.findings = {makeFinding(kind)};
    r.findings[0].places.push_back({.label = "here", .siteId = 7});
    r.findings[0].trace = 1;
    r.traces.resize(1);
    r.traces[0].total = total;
    return r;
  };
  Report sum = of(10, FindingKind::MissingFlush);
  sum += of(20, FindingKind::MissingFlush);
  EXPECT_EQ(sum.traces.size(), 1U);
  EXPECT_EQ(sum.traces[0].total, 10U);
  sum += of(30, FindingKind::MissingFence);
  ASSERT_EQ(sum.findings.size(), 2U);
  ASSERT_EQ(sum.traces.size(), 2U);
  for (const Finding& f : sum.findings)
    EXPECT_EQ(sum.traces[f.trace - 1].total, f.kind == FindingKind::MissingFence ? 30U : 10U);
  sum.findings.erase(sum.findings.begin());
  dropUnusedTraces(sum);
  ASSERT_EQ(sum.traces.size(), 1U);
  EXPECT_EQ(sum.findings[0].trace, 1U);
}

}  // namespace
}  // namespace blackout
