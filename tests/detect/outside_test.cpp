// Stores past the end of a pool file and flushes of memory in no pool.
#include "judged_program.h"

namespace blackout::test {
namespace {

TEST(StoreOutside, PastTheEndOfTheFile) {
  JudgedProgram p(100);
  StackId w = p.place(1);
  p.storeAt(w, 0);
  p.persist(0);
  p.writer.event(EventKind::StoreOutside, 1, p.at(200), 0, 4, w);
  p.writer.event(EventKind::StoreOutside, 1, p.at(208), 0, 4, w);
  expectFound(p, "store-outside", {2, 3});
  Finding f = p.found("store-outside")[0];
  EXPECT_EQ(f.severity, Severity::Suspected);
  EXPECT_EQ(f.claim, Claim(StoredPastTheEnd{4}));
  EXPECT_EQ(f.examples, (std::vector<AffectedBytes>{{"/pool", 200, 4, ""}, {"/pool", 208, 4, ""}}));
}

TEST(StoreOutside, NotInsideTheFile) {
  JudgedProgram p(100);
  p.store(1, 99, 1);
  expectNothing(p, "store-outside");
}

TEST(StoreOutside, ToldEvenWhenBlind) {
  JudgedProgram p(100);
  p.writer.event(EventKind::StoreOutside, 1, p.at(200), 0, 4);
  EXPECT_EQ(p.found("store-outside", "", true).size(), 1U);
}

TEST(StoreOutside, OnlyInsideTheRegionOfInterest) {
  JudgedProgram p(100);
  auto outside = [&](std::uint64_t id) {
    p.writer.event(EventKind::StoreOutside, 1, p.at(200), 0, 4, p.place(id));
    p.writer.event(EventKind::FlushOutside, 1, 0x7fff0000, 0, 0, p.place(id + 10, SiteKind::Clwb));
  };
  outside(1);
  p.event(EventKind::RoiBegin);
  outside(2);
  p.event(EventKind::RoiEnd);
  outside(3);
  for (const auto& [detector, site] : {std::pair("store-outside", 2U), std::pair("flush-outside", 12U)}) {
    auto findings = p.found(detector);
    ASSERT_EQ(findings.size(), 1U) << detector;
    EXPECT_EQ(findings[0].places[0].siteId, site);
  }
}

TEST(FlushOutside, OfMemoryInNoPool) {
  JudgedProgram p;
  StackId w = p.place(1, SiteKind::Clwb);
  p.writer.event(EventKind::FlushOutside, 1, 0x7fff0000, 0, 0, w);
  p.store(1, 0, 1);
  p.flushAt(w, 0);
  p.sfence(1);
  expectFound(p, "flush-outside", {1, 2});
  EXPECT_EQ(p.found("flush-outside")[0].severity, Severity::Performance);
  EXPECT_EQ(p.found("flush-outside")[0].claim, Claim(PlainClaim{}));
}

TEST(FlushOutside, NotOfPm) {
  JudgedProgram p;
  p.store(1, 0, 1);
  p.persist(0);
  expectNothing(p, "flush-outside");
}

}  // namespace
}  // namespace blackout::test
