// Of which events a trace detector may speak, and ends without a begin.
#include "model/interest.h"

#include <gtest/gtest.h>

#include "tiny_program.h"

namespace blackout::test {
namespace {

TEST(Interest, IsEverythingWithoutMarks) {
  TinyProgram p;
  EventNo store = p.store(1, 0, 1);
  Interest interest(p.trace());
  EXPECT_TRUE(interest.contains(0));
  EXPECT_TRUE(interest.contains(store));
}

TEST(Interest, RegionsOpenAndCloseAgain) {
  TinyProgram p;
  EventNo before = p.store(1, 0, 1);
  p.event(EventKind::RoiBegin);
  EventNo first = p.store(1, 0, 2);
  p.event(EventKind::RoiEnd);
  EventNo between = p.store(1, 0, 3);
  p.event(EventKind::RoiBegin);
  EventNo second = p.store(2, 0, 4);
  Interest interest(p.trace());
  EXPECT_FALSE(interest.contains(before));
  EXPECT_TRUE(interest.contains(first));
  EXPECT_FALSE(interest.contains(between));
  EXPECT_TRUE(interest.contains(second));
}

TEST(Interest, EndsWithTheCompletion) {
  TinyProgram p;
  EventNo before = p.store(1, 0, 1);
  p.event(EventKind::Complete);
  EventNo after = p.store(1, 0, 2);
  p.event(EventKind::RoiBegin);
  EventNo inside = p.store(1, 0, 3);
  Interest interest(p.trace());
  EXPECT_TRUE(interest.contains(before));
  EXPECT_FALSE(interest.contains(after));
  EXPECT_FALSE(interest.contains(inside));
}

TEST(Interest, LeavesOutWhatItsThreadTrusts) {
  TinyProgram p;
  p.event(EventKind::SkipDetectionEnd, 1);  // one too many
  EventNo before = p.store(1, 0, 1);
  p.event(EventKind::SkipDetectionBegin, 1);
  EventNo trusted = p.store(1, 0, 2);
  EventNo others = p.store(2, 64, 1);
  p.event(EventKind::SkipDetectionBegin, 1);
  p.event(EventKind::SkipDetectionEnd, 2);
  p.event(EventKind::SkipDetectionEnd, 1);
  EventNo nested = p.store(1, 0, 3);
  p.event(EventKind::SkipDetectionEnd, 1);
  EventNo after = p.store(1, 0, 4);
  p.event(EventKind::SkipDetectionBegin, 2);
  EventNo open = p.store(2, 64, 2);  // up to the end
  Interest interest(p.trace());
  EXPECT_TRUE(interest.contains(before));
  EXPECT_FALSE(interest.contains(trusted));
  EXPECT_TRUE(interest.contains(others));
  EXPECT_FALSE(interest.contains(nested));
  EXPECT_TRUE(interest.contains(after));
  EXPECT_FALSE(interest.contains(open));
}

TEST(UnmatchedEnds, AreCountedByKindAndThread) {
  TinyProgram p;
  p.event(EventKind::RoiBegin);
  p.event(EventKind::RoiEnd);
  p.event(EventKind::RoiEnd);
  p.event(EventKind::SkipPointsBegin, 1);
  p.event(EventKind::SkipPointsEnd, 2);  // parts without crashes are nobody's own
  p.event(EventKind::SkipPointsEnd, 1);
  p.event(EventKind::SkipPointsEnd, 1);
  p.event(EventKind::SkipDetectionBegin, 1);
  p.event(EventKind::SkipDetectionEnd, 2);
  p.event(EventKind::SkipDetectionEnd, 1);
  UnmatchedEnds ends = unmatchedEnds(p.trace());
  EXPECT_EQ(ends.regions, 1U);
  EXPECT_EQ(ends.skippedCrashes, 2U);
  EXPECT_EQ(ends.skippedDetection, 1U);
}

}  // namespace
}  // namespace blackout::test
