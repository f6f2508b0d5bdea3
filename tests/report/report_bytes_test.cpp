// A report as bytes: everything comes back, and what is no report is refused or read without a fault.
#include "findings/report_bytes.h"

#include <gtest/gtest.h>

#include "report/json.h"
#include "sample_report.h"

namespace blackout {
namespace {

KeptReport sample() {
  KeptReport kept;
  kept.report = test::sampleReport("/src");
  CheckedMechanisms mechanisms;
  mechanisms.mechanisms.push_back({"journal.undo", "undo journal", 1, 2, 3});
  mechanisms.inFlight = {{1, 2}, {3, 4}};
  kept.report.mechanisms = mechanisms;
  ReplayableFinding r;
  r.finding = kept.report.findings.front();
  CrashLevel level(EventNo(7U), UnnamedLines::Newest, {{LineNo(3U), Version{1, {4, 5}}}});
  level.files = Version{2, {}};
  r.finding.crashState = CrashState{level, CrashLevel(EventNo(9U), UnnamedLines::Least)};
  NoOrder order;
  order.operations.push_back({0, {1, "put", {Value::ofText("k")}, {Value::ofSigned(-1)}, 0, 1}, true, 2});
  order.witnesses = {0};
  r.finding.evidence.emplace_back(order);
  r.replay.command = {"./map", ""};
  r.replay.trace = std::string("\0\1", 2);
  kept.replayable.push_back(r);
  return kept;
}

TEST(ReportBytes, AllComesBack) {
  KeptReport kept = sample();
  auto back = decodeReport(encodeReport(kept));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->report, kept.report);
  EXPECT_EQ(renderJson(back->report, FailOn::Proved), renderJson(kept.report, FailOn::Proved));
  ASSERT_EQ(back->replayable.size(), 1U);
  EXPECT_EQ(back->replayable.front().finding, kept.replayable.front().finding);
  EXPECT_EQ(back->replayable.front().replay, kept.replayable.front().replay);
}

TEST(ReportBytes, WhatIsCutShortOrTooLongIsRefused) {
  std::string bytes = encodeReport(sample());
  for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 50)
    EXPECT_FALSE(decodeReport(std::string_view(bytes).substr(0, size))) << size;
  EXPECT_FALSE(decodeReport(bytes + 'x'));
}

// What is read can be told, whatever it is: the sanitizers' builds look at this.
TEST(ReportBytes, DamageIsRefusedOrHarmless) {
  const std::string bytes = encodeReport(sample());
  std::size_t refused = 0, read = 0;
  const char values[] = {'\0', '\x01', '\x7f', '\xff'};
  for (std::size_t at = 0; at < bytes.size(); at += 11) {
    std::string damaged = bytes;
    damaged[at] = values[at % std::size(values)];
    auto back = decodeReport(damaged);
    ++(back ? read : refused);
    if (back && at % 4 == 0) EXPECT_FALSE(renderJson(back->report, FailOn::Proved).empty());
  }
  EXPECT_GT(refused, 0U);
  EXPECT_GT(read, 0U);
}

TEST(ReportBytes, NumbersOfPlacesAreThoseOfTheFinding) {
  KeptReport kept = sample();
  Finding& f = kept.replayable.front().finding;
  f.evidence.emplace_back(FineIfPersisted{PlaceNo(f.places.size())});
  EXPECT_TRUE(decodeReport(encodeReport(kept)));
  f.evidence.emplace_back(FineIfPersisted{PlaceNo(f.places.size() + 1)});
  EXPECT_FALSE(decodeReport(encodeReport(kept)));
}

TEST(ReportBytes, EnumeratorsAreThoseThatThereAre) {
  KeptReport kept = sample();
  kept.report.findings.front().severity = static_cast<Severity>(3);
  EXPECT_FALSE(decodeReport(encodeReport(kept)));
}

}  // namespace
}  // namespace blackout
