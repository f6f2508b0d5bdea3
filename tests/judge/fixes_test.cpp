// Fixes: what is offered was tried as a statement of the source, on every failing state; anything else is not offered.
#include "judge/fixes.h"

#include <gtest/gtest.h>

#include "fake_check.h"

namespace blackout::test {
namespace {

std::vector<std::uint32_t> linesOf(const std::vector<Frame>& frames) {
  std::vector<std::uint32_t> lines;
  for (const Frame& f : frames) lines.push_back(f.line);
  return lines;
}

TEST(Fixes, AFlushAfterTheStoreOrBeforeWhatReliesOnIt) {
  JudgedProgram p;
  p.storeAt(p.place(1), kValue, 5);
  p.storeAt(p.place(4), kRoot, 64);
  p.persist(kRoot);
  const CrashCheck c = check(p, follow);
  const Finding& f = only(c);
  ASSERT_EQ(f.fixes.size(), 2U);
  for (const Fix& fix : f.fixes) {
    EXPECT_EQ(std::pair(fix.flushes, fix.fences), std::pair(std::uint64_t{1}, std::uint64_t{1}));
    EXPECT_EQ(fix.states, c.exploration.failing);
    ASSERT_EQ(fix.stores.size(), 1U);
    EXPECT_EQ(fix.stores[0].at.line, 1U);
  }
  EXPECT_EQ(f.fixes[0].where, Fix::Where::AfterStore);
  EXPECT_EQ(linesOf(f.fixes[0].at), std::vector<std::uint32_t>{1});
  EXPECT_EQ(f.fixes[1].where, Fix::Where::Before);
  EXPECT_EQ(linesOf(f.fixes[1].at), std::vector<std::uint32_t>{4});
}

// In a loop it costs more to flush each time.
TEST(Fixes, TheCheapestFirst) {
  JudgedProgram p;
  for (std::uint64_t i = 0; i < 3; ++i) p.storeAt(p.place(1), kValue + 8 * i, 5);
  p.storeAt(p.place(4), kRoot, 64);
  p.persist(kRoot);
  const CrashCheck c = check(p, [](FakeMemory& m) {
    if (m.load(kRoot) == 0) return exited();
    return m.load(kValue) + m.load(kValue + 8) + m.load(kValue + 16) == 15 ? exited() : crashed();
  });
  const Finding& f = only(c);
  ASSERT_EQ(f.fixes.size(), 2U);
  EXPECT_EQ(f.fixes[0].where, Fix::Where::Before);
  EXPECT_EQ(f.fixes[0].fences, 1U);
  EXPECT_EQ(f.fixes[1].fences, 3U);
}

TEST(Fixes, AFence) {
  JudgedProgram p;
  p.storeAt(p.place(1), kValue, 5);
  p.flushAt(p.place(3), kValue);
  p.storeAt(p.place(4), kRoot, 64);
  p.persist(kRoot);
  const CrashCheck c = check(p, follow);
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "missing-fence");
  ASSERT_FALSE(f.fixes.empty());
  for (const Fix& fix : f.fixes) {
    EXPECT_TRUE(fix.stores.empty());
    EXPECT_EQ(fix.flushes, 0U);
    EXPECT_EQ(fix.fences, 1U);
    EXPECT_EQ(linesOf(fix.at), std::vector<std::uint32_t>{fix.where == Fix::Where::Before ? 4U : 3U});
  }
}

// A line that was inlined twice is two instructions: who changes it changes both, and pays for both.
TEST(Fixes, ALineIsAllOfItsInstructions) {
  JudgedProgram p;
  Site copy;
  copy.id = 11;
  copy.kind = SiteKind::Store;
  copy.size = 8;
  copy.sources = {{11, {{"f", "f.c", 1, 1, 0}}}};
  p.storeAt(p.place(1), kValue, 5);
  p.storeAt(p.writer.where(p.writer.site(copy)), 256, 1);
  p.persist(256);
  p.storeAt(p.place(4), kRoot, 64);
  p.persist(kRoot);
  const CrashCheck c = check(p, follow);
  const Finding& f = only(c);
  auto after =
      std::find_if(f.fixes.begin(), f.fixes.end(), [](const Fix& fix) { return fix.where == Fix::Where::AfterStore; });
  ASSERT_NE(after, f.fixes.end());
  EXPECT_EQ(after->flushes, 2U);
  EXPECT_EQ(linesOf(after->at), std::vector<std::uint32_t>{1});
}

TEST(Fixes, NoneThatWouldNotHelp) {
  {
    JudgedProgram p;  // neither order helps
    for (std::uint64_t i = 0; i < 3; ++i) p.storeAt(p.place(1 + i), 64 * i, 7);
    for (std::uint64_t i = 0; i < 3; ++i) p.clwb(1, 64 * i);
    p.sfence(1);
    EXPECT_TRUE(only(check(p, [](FakeMemory& m) {
                  std::uint64_t sum = m.load(0) + m.load(64) + m.load(128);
                  return sum == 0 || sum == 21 ? exited() : broke("all or none");
                })).fixes.empty());
  }
  JudgedProgram p;  // stored too late: a flush of it changes nothing
  p.storeAt(p.place(1), 0, 1);
  p.storeAt(p.place(2), 8, 5);
  p.persist(0);
  EXPECT_TRUE(only(check(p, [](FakeMemory& m) {
                return m.load(0) == 0 || m.load(8) == 5 ? exited() : crashed();
              })).fixes.empty());
}

}  // namespace
}  // namespace blackout::test
