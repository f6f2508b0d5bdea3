// A crash while a library creates a pool is one finding, however restarts fail by it.
#include "judge/pool_creation.h"

#include <gtest/gtest.h>

#include "fake_check.h"

namespace blackout {
namespace {

using test::check;
using test::crashed;
using test::exited;
using test::FakeMemory;
using test::JudgedProgram;

// A pool that is made in the run: by a library's call a header of three words, each durable before the next one; then
// by the program's own code a flag that is durable before its data.
struct Creating : JudgedProgram {
  explicit Creating(const std::string& library) : JudgedProgram(4096, false) {
    writer.module({"/home/me/app", 0, 0x1000, 0x2000, false});
    writer.module({library, 0, 0x10000, 0x11000, false});
    SiteNo site = writer.site(Site{.id = 1, .kind = SiteKind::Store, .size = 8, .sources = {}, .type = ""});
    for (std::uint64_t i = 0; i < 3; ++i)
      step(writer.where(site, std::vector<std::uint64_t>{0x10200 + i, 0x10100, 0x1100}), i * 64);
    step(place(7), 256);
    step(place(8), 320);
  }
  void step(StackId where, std::uint64_t offset) {
    storeAt(where, offset, 1);
    flushAt(where, offset);
    fenceAt(where);
  }
};

Outcome open(FakeMemory& m) {
  if (m.load(0) == 0) return exited();  // no pool yet: it makes one
  if (m.load(64) == 0) return crashed(7);
  if (m.load(128) == 0) return exited(1);
  return m.load(256) == 0 || m.load(320) != 0 ? exited() : crashed(11);
}

std::vector<const Finding*> creationsIn(const CrashCheck& c) {
  std::vector<const Finding*> out;
  for (const ReplayableFinding& f : c.findings)
    if (std::holds_alternative<InterruptedCreation>(f.finding.claim)) out.push_back(&f.finding);
  return out;
}

TEST(PoolCreation, IsTheLibrarysCallThatFillsTheFile) {
  Creating p("/usr/lib/libpmemobj.so.1"), other("/usr/lib/libother.so.1");
  auto libraries = Trusted::pmdk(p.trace());
  ASSERT_TRUE(libraries && *libraries);
  auto creations = poolCreations(p.index(), **libraries);
  ASSERT_EQ(creations.size(), 1U);
  EXPECT_EQ(creations[0].file, FileNo(1));
  EventNo behind = creations[0].last + 1;
  EXPECT_TRUE((*libraries)->inside(creations[0].last));
  EXPECT_FALSE((*libraries)->inside(behind));
  EXPECT_FALSE(creations[0].interruptedAt(behind));
  EXPECT_TRUE(creations[0].interruptedAt(creations[0].last));
  auto none = Trusted::pmdk(other.trace());
  EXPECT_TRUE(none && !*none);
}

TEST(PoolCreation, IsOneFindingWithItsCure) {
  Creating p("/usr/lib/libpmemobj.so.1");
  CrashCheck c = check(p, open);
  ASSERT_EQ(creationsIn(c).size(), 1U);
  EXPECT_EQ(c.findings.size(), 2U);  // the other is the program's own
  const Finding& f = *creationsIn(c)[0];
  EXPECT_EQ(nameOf(f.kind), "not-atomic");
  EXPECT_EQ(f.severity, Severity::Shown);
  EXPECT_EQ(verdictOf(f),
            "If the power fails while pool is being created at (1), the restarted program crashes with SIGBUS.");
  EXPECT_TRUE(test::says(f, "in another way: one exits with 1"));
  EXPECT_NE(hintOf(f).find("under another name and rename it"), std::string_view::npos);
  EXPECT_EQ(test::causeSites(f), (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(c.findings[0].finding.shownBy->states + c.findings[1].finding.shownBy->states, c.exploration.failing);
}

// Which library's it is must be known: any other code is the program's, with a cause in it.
TEST(PoolCreation, ByOtherCodeIsToldByItsStores) {
  Creating p("/usr/lib/libother.so.1");
  EXPECT_TRUE(creationsIn(check(p, open)).empty());
}

}  // namespace
}  // namespace blackout
