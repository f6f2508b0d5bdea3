// What is said of restarts that are not deterministic.
#include "judge/exploration_account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judged_program.h"

namespace blackout {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Divergence, NamesWhatTheRunsUsedAndNothingElse) {
  test::JudgedProgram p;
  p.storeAt(p.place(1), 0);
  TrackedBytes tracked = TrackedBytes::of(p.index());
  Divergence d;
  d.at = 3;
  d.outcome = true;
  std::string text = divergenceText(d, tracked);
  EXPECT_THAT(text, HasSubstr("after 3 equal reads one run ended in one way and another in another; it may use"));
  struct Row {
    std::uint32_t used;
    std::string words;
  };
  const std::vector<Row> rows = {{kUsedThreads, "it has threads"},
                                 {kUsedTime, "it asks for the time"},
                                 {kUsedRandom, "it asks for random numbers"},
                                 {kUsedProcesses, "it starts other processes"}};
  for (const Row& row : rows) {
    EXPECT_THAT(text, Not(HasSubstr(row.words)));
    for (bool before : {false, true}) {
      Divergence used = d;
      (before ? used.usedBefore : used.usedNow) = row.used;
      for (const Row& other : rows)
        EXPECT_EQ(divergenceText(used, tracked).find(other.words) != std::string::npos, other.used == row.used)
            << row.words << ", " << other.words;
    }
  }
  d.usedNow = kUsedThreads | kUsedTime;
  EXPECT_THAT(divergenceText(d, tracked), HasSubstr("(run it with one); it asks for the time"));
}

}  // namespace
}  // namespace blackout
