// Stores that are replaced before they are durable; off by default.
#include "judged_program.h"

namespace blackout::test {
namespace {

constexpr std::string_view kDetector = "overwritten-unpersisted";

TEST(Overwritten, BeforeItWasDurable) {
  JudgedProgram p;
  StackId first = p.place(1);
  StackId second = p.place(2);
  p.storeAt(first, 0, 1);
  p.storeAt(second, 0, 2);
  p.persist(0);
  expectFound(p, kDetector, {1, 1});
  Finding f = p.found(kDetector)[0];
  ASSERT_EQ(f.places.size(), 2U);
  EXPECT_EQ(f.places[0].siteId, 1U);
  EXPECT_EQ(f.places[1].siteId, 2U);
  const auto& claim = std::get<Replaced>(f.claim);
  EXPECT_EQ(integerOf(claim.store.bytes.after), 1U);
  EXPECT_EQ(integerOf(claim.by.bytes.before), 1U);
  EXPECT_EQ(integerOf(claim.by.bytes.after), 2U);
  EXPECT_EQ(claim.by.place.value(), 2U);
}

TEST(Overwritten, EachInstructionIsAFindingOfItsOwn) {
  JudgedProgram p;
  p.storeAt(p.place(1), 0, 1);
  p.storeAt(p.place(3), 64, 1);
  for (std::uint64_t offset : {0, 64}) p.storeAt(p.place(2), offset, 2), p.persist(offset);
  auto findings = p.found(kDetector);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].places[0].siteId + findings[1].places[0].siteId, 1U + 3U);
  for (const Finding& f : findings) EXPECT_EQ(f.counts, (Counts{1, 1}));
}

TEST(Overwritten, IsOffByDefault) {
  JudgedProgram p;
  p.store(1, 0, 1);
  p.store(1, 0, 2);
  p.persist(0);
  EXPECT_TRUE(detect(p.index()).empty());
}

TEST(Overwritten, FlushedButNotYetFenced) {
  JudgedProgram p;
  p.store(1, 0, 1);
  p.clwb(1, 0);
  p.store(1, 0, 2);
  p.persist(0);
  expectFound(p, kDetector, {1, 2});
}

TEST(Overwritten, NotWhatWasDurable) {
  JudgedProgram p;
  p.store(1, 0, 1);
  p.persist(0);
  p.store(1, 0, 2);
  p.persist(0);
  expectNothing(p, kDetector);
}

TEST(Overwritten, ALockedInstructionsOwnFenceIsInTime) {
  JudgedProgram p;
  p.store(1, 0, 1, 8);
  p.clwb(1, 0);
  p.rmw(1, 0, 2);
  expectNothing(p, kDetector);
  EXPECT_EQ(p.found(kDetector, "rmw-fences=off").size(), 1U);
}

TEST(Overwritten, NotOtherBytesOfTheLine) {
  JudgedProgram p;
  p.store(1, 0, 1, 4);
  p.store(1, 4, 1, 4);
  expectNothing(p, kDetector);
}

TEST(Overwritten, NotFreedOrIgnoredMemory) {
  JudgedProgram p;
  p.store(1, 0, 1);
  p.range(EventKind::Discard, 1, 0, 8);
  p.store(1, 0, 2);
  p.range(EventKind::Ignore, 1, 64, 64);
  p.store(1, 64, 1);
  p.store(1, 64, 2);
  expectNothing(p, kDetector);
}

}  // namespace
}  // namespace blackout::test
