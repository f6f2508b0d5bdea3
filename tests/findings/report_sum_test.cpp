// Reports of several recordings add up.

#include <gtest/gtest.h>

#include "findings/report.h"

namespace blackout {

namespace {

Finding found(FindingKind kind, std::uint64_t site, std::uint64_t times) {
  Finding f = makeFinding(kind);
  NumberedPlace place;
  place.label = "written here";
  place.siteId = site;
  f.places = {place};
  f.counts = {times, 10 * times};
  return f;
}

Report reportOf(std::vector<Finding> findings) {
  Report r;
  r.command = {"./program"};
  r.findings = std::move(findings);
  sortFindings(r.findings);
  r.detectors = {"never-persisted", "clean-flush"};
  r.run.events = 100;
  r.run.threads = 2;
  r.run.log10States = 3;
  r.run.waitStatus = 0;
  r.exploration.emplace();
  r.exploration->points = 5;
  r.exploration->completePoints = 4;
  r.exploration->runs = 9;
  return r;
}

TEST(ReportSum, OneCauseIsOneFinding) {
  Report sum = reportOf({found(FindingKind::NeverPersisted, 1, 2), found(FindingKind::CleanFlush, 3, 1)});
  sum += reportOf({found(FindingKind::NeverPersisted, 1, 5), found(FindingKind::NeverPersisted, 2, 1)});
  ASSERT_EQ(sum.findings.size(), 3U);
  EXPECT_EQ(sum.findings[0].counts, (Counts{7, 70}));
  EXPECT_EQ(sum.findings[1].places[0].siteId, 2U);
  EXPECT_EQ(sum.findings[2].kind, FindingKind::CleanFlush);
}

// What one recording only suspects and another one shows is shown, by that one's crash.
TEST(ReportSum, TheWorseIsTold) {
  Finding suspected = found(FindingKind::MissingFlush, 1, 0), shown = suspected;
  suspected.severity = Severity::Suspected;
  suspected.shownBy = ShownBy{"did not fail", 0, {}, 1, 1, {}};
  shown.shownBy = ShownBy{"crashes with SIGSEGV", 0, {}, 4, 2, {}};
  for (bool first : {true, false}) {
    Report sum = reportOf({first ? shown : suspected});
    sum += reportOf({first ? suspected : shown});
    ASSERT_EQ(sum.findings.size(), 1U);
    EXPECT_EQ(sum.findings[0].severity, Severity::Shown);
    EXPECT_EQ(sum.findings[0].shownBy->symptom, "crashes with SIGSEGV");
    EXPECT_EQ(sum.findings[0].shownBy->states, 5U);
    EXPECT_EQ(sum.findings[0].shownBy->points, 3U);
  }
}

TEST(ReportSum, FiguresAddUp) {
  Report a = reportOf({}), b = reportOf({});
  b.run.threads = 4;
  b.run.waitStatus = 256;
  b.detectors = {"never-persisted"};
  b.suppressions = {{"s", 1, "x:y", 2}};
  a.suppressions = {{"s", 1, "x:y", 1}};
  a += b;
  EXPECT_EQ(a.run.events, 200U);
  EXPECT_EQ(a.run.threads, 4U);
  EXPECT_EQ(a.run.waitStatus, 256);
  EXPECT_NEAR(*a.run.log10States, 3.30103, 1e-5);
  EXPECT_EQ(a.exploration->points, 10U);
  EXPECT_EQ(a.exploration->completePoints, 8U);
  EXPECT_EQ(a.exploration->runs, 18U);
  EXPECT_EQ(a.detectors, std::vector<std::string>{"never-persisted"});
  EXPECT_EQ(a.suppressed(), 3U);
}

// A sum is as whole as its least whole part.
TEST(ReportSum, WhatWasNotSeenOfOneWasNotSeenOfTheSum) {
  Report whole = reportOf({}), part = reportOf({});
  part.incomplete = {"Something was not seen."};
  Report sum = whole;
  sum += part;
  EXPECT_FALSE(sum.complete());
  EXPECT_EQ(exitCodeOf(sum, FailOn::Shown), ExitCode::Inconclusive);
  part = reportOf({});
  part.exploration.reset();
  sum = whole;
  sum += part;
  EXPECT_FALSE(sum.complete());
  sum = part;
  sum += part;
  EXPECT_TRUE(sum.complete());
}

TEST(ReportSum, NothingIsNeutral) {
  Report one = reportOf({found(FindingKind::CleanFlush, 3, 1)});
  Report sum;
  sum += one;
  EXPECT_EQ(sum, one);
  sum += Report();
  EXPECT_EQ(sum, one);
}

}  // namespace

}  // namespace blackout
