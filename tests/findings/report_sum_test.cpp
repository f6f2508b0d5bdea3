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

// What a strategy leaves out is one sentence, and a record that is read at one place is one record.
TEST(ReportSum, WhatWasLeftOutIsSaidOnce) {
  auto part = [](const char* tried, const char* other, double log10, std::uint64_t points) {
    Report r = reportOf({});
    r.exploration->notExplored = {tried, other};
    AssumedRecord record;
    record.place = "log.cpp:88";
    record.allowed = true;
    record.log10States = log10;
    record.tried = static_cast<std::uint64_t>(10 * log10);
    record.points = points;
    r.exploration->assumptions = {record};
    return r;
  };
  const char* other = "Crashes at other points than the 3 chosen; 4 would be enough.";
  Report sum = part("States that the strategy plans does not choose: it tried 62 of 368.", other, 3, 2);
  sum += part("States that the strategy plans does not choose: it tried 62 of 368.", other, 3, 2);
  EXPECT_EQ(sum.exploration->notExplored.front(),
            "States that the strategy plans does not choose: it tried 62 of 368.");
  for (const char* tried : {"it tried 7 of 11.", "it tried 9 of 12."})
    sum += part((std::string("States that the strategy plans does not choose: ") + tried).c_str(), other, 5, 1);
  EXPECT_EQ(sum.exploration->notExplored,
            (std::vector<std::string>{"States that the strategy plans does not choose.", other}));
  ASSERT_EQ(sum.exploration->assumptions.size(), 1U);
  EXPECT_EQ(sum.exploration->assumptions[0].points, 6U);
  EXPECT_EQ(sum.exploration->assumptions[0].tried, 50U);
  sum += part("States that the strategy two-plan does not choose: it tried 1 of 2.", other, 1, 1);
  EXPECT_EQ(sum.exploration->notExplored.size(), 3U);
}

// A campaign of thousands of workloads tells once that a record may be checksummed, with the figures of the crash that
// left most of it.
TEST(ReportSum, ARecordThatNobodyAnswersForIsToldOnce) {
  auto part = [](const char* place, double log10, bool allowed = false) {
    Report r = reportOf({});
    AssumedRecord record;
    record.place = place;
    record.log10States = log10;
    record.tried = 70;
    record.allowed = allowed;
    if (!allowed) r.incomplete = {"Something was not seen.", unansweredText(record)};
    r.exploration->notExplored = r.incomplete;
    r.exploration->assumptions = {record};
    return r;
  };
  Report sum;
  for (double log10 : {3.0, 4.0, 3.0, 2.0}) sum += part("log.cpp:88", log10);
  const std::string of88 =
      "The record at log.cpp:88 may be checksummed, and only 70 of 10,000 combinations of its lines were tried. If it "
      "is, say so with --assume checksums or blackout_checksum().";
  EXPECT_EQ(sum.incomplete, (std::vector<std::string>{"Something was not seen.", of88}));
  EXPECT_EQ(sum.exploration->notExplored, sum.incomplete);
  EXPECT_EQ(sum.exploration->assumptions.size(), 1U);
  // Other records have sentences of their own; one that somebody answers for has none.
  sum += part("log.cpp:99", 3);
  sum += part("", 3);
  sum += part("", 2);
  sum += part("table.cpp:7", 3, true);
  ASSERT_EQ(sum.incomplete.size(), 4U);
  EXPECT_EQ(sum.incomplete[1], of88);
  EXPECT_TRUE(sum.incomplete[2].starts_with("The record at log.cpp:99 "));
  EXPECT_TRUE(sum.incomplete[3].starts_with("A record that is read at an unknown place "));
  EXPECT_EQ(exitCodeOf(sum, FailOn::Shown), ExitCode::Inconclusive);
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

TEST(ReportSum, WhatWasCheckedOfMechanismsAddsUp) {
  Report one = reportOf({}), other = reportOf({});
  one.mechanisms =
      CheckedMechanisms{.mechanisms = {{.name = "a", .kind = "log", .objects = 1, .transactions = 2, .broken = 3}},
                        .stores = 4,
                        .unprotected = 5,
                        .untyped = 6,
                        .plans = 7,
                        .plansForAll = 8,
                        .inFlight = {{1, 10}, {2, 20}},
                        .inFlightUnprotected = {{3, 30}}};
  other.mechanisms = one.mechanisms;
  other.mechanisms->inFlight = {{2, 5}, {4, 1}};
  Report sum = one;
  sum += other;
  CheckedMechanisms expected{.mechanisms = {{.name = "a", .kind = "log", .objects = 2, .transactions = 4, .broken = 6}},
                             .stores = 8,
                             .unprotected = 10,
                             .untyped = 12,
                             .plans = 14,
                             .plansForAll = 16,
                             .inFlight = {{1, 10}, {2, 25}, {4, 1}},
                             .inFlightUnprotected = {{3, 60}}};
  EXPECT_EQ(sum.mechanisms, expected);
  // Of one of the two only: what is known of it.
  other.mechanisms.reset();
  sum = one;
  sum += other;
  EXPECT_EQ(sum.mechanisms, one.mechanisms);
  sum = other;
  sum += one;
  EXPECT_EQ(sum.mechanisms, one.mechanisms);
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
