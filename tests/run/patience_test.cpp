// How long somebody still waits for an answer.
#include "run/patience.h"

#include <gtest/gtest.h>

#include <thread>

namespace blackout {
namespace {

// Of the moment that is left after an interrupt the first half is for work that something else must come after.
TEST(Patience, WorkBeforeOtherWorkIsOverSooner) {
  std::atomic<bool> interrupt = false, again = false;
  Patience all(&interrupt, &again, 0);
  Patience first = all.sooner();
  EXPECT_FALSE(first.over());
  interrupt = true;
  auto begun = std::chrono::steady_clock::now();
  EXPECT_FALSE(first.over());
  EXPECT_FALSE(all.over());
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  EXPECT_TRUE(first.over());
  bool over = all.over();
  if (std::chrono::steady_clock::now() - begun < std::chrono::milliseconds(1900)) EXPECT_FALSE(over);
  again = true;
  EXPECT_TRUE(all.over());
}

}  // namespace
}  // namespace blackout
