// What a long exploration shows.
#include "cli/progress_line.h"

#include <gtest/gtest.h>

namespace blackout::cli {
namespace {

TEST(Progress, Durations) {
  EXPECT_EQ(durationText(0.04), "0.0 s");
  EXPECT_EQ(durationText(3.4), "3 s");
  EXPECT_EQ(durationText(120), "2 min");
  EXPECT_EQ(durationText(125.4), "2 min 5 s");
  EXPECT_EQ(durationText(4321), "1 h 12 min");
}

TEST(Progress, SaysHowFarAndHowLong) {
  ProgressState p{
      .level = 1, .done = 120, .total = 1200, .runs = 3410, .runsPerSecond = 1520.7, .failing = 2, .seconds = 1};
  EXPECT_EQ(progressText(p), "point 120 of 1,200 · 3,410 restarts, 1,520/s · 2 failures · 9 s left");
  p.done = p.total;
  p.failing = 0;
  p.level = 2;
  EXPECT_EQ(progressText(p), "crash 2 in a row: point 1,200 of 1,200 · 3,410 restarts, 1,520/s · no failure");
}

TEST(Progress, SaysHowFarACampaignIs) {
  Campaign::Progress p{.done = 17, .of = 1051, .before = 7, .onlyMade = 3, .findings = 1, .seconds = 2};
  EXPECT_EQ(progressText(p), "workload 17 of 1,051 · 3 only made · 1 finding · 5.0/s · 3 min 27 s left");
  p.done = p.before = p.of;
  p.findings = 0;
  EXPECT_EQ(progressText(p), "workload 1,051 of 1,051 · 3 only made · no finding");
}

TEST(Progress, PlainLinesEveryTenSeconds) {
  std::FILE* out = std::tmpfile();
  ASSERT_NE(out, nullptr);
  {
    ProgressLine line(out);
    for (double t : {0.5, 5.0, 9.9, 10.1, 10.4, 31.0, 39.0, 41.0}) {
      ProgressState p;
      p.seconds = t;
      line.show(p);
    }
  }
  std::rewind(out);
  int lines = 0;
  for (int c; (c = std::fgetc(out)) != EOF;) {
    EXPECT_NE(c, '\r');
    lines += c == '\n';
  }
  EXPECT_EQ(lines, 3);
  std::fclose(out);
}

}  // namespace
}  // namespace blackout::cli
