// Events that are put into a trace for an experiment do what they would do if the program had made them.
#include "model/inserted.h"

#include <gtest/gtest.h>

#include <random>

#include "tiny_program.h"

namespace blackout {
namespace {

using test::TinyProgram;

TEST(Inserted, AFlushAndAFenceMakeDurable) {
  TinyProgram p;
  EventNo first = p.store(1, 0, 1, 8);
  p.store(1, 64, 1, 8);
  const Index& index = p.index();
  auto cured = withInserted(index, {{first, false, 1, lineOf(p.at(0)), true}});
  ASSERT_TRUE(cured);
  EXPECT_EQ(index.stores()[StoreNo(0)].guaranteedAt, kNever);
  EXPECT_EQ(cured->stores()[StoreNo(0)].guaranteedAt, first);
  EXPECT_EQ(cured->stores()[StoreNo(1)].guaranteedAt, kNever) << "another line";
  auto flushOnly = withInserted(index, {{first, false, 1, lineOf(p.at(0)), false}});
  EXPECT_EQ(flushOnly->stores()[StoreNo(0)].guaranteedAt, kNever);
  auto before = withInserted(index, {{first, true, 1, std::nullopt, true}});
  EXPECT_EQ(before->stores()[StoreNo(0)].guaranteedAt, kNever);
}

// The same program twice: once it makes all its flushes and fences itself, once some of them are inserted.
TEST(Inserted, IsTheSameAsInTheProgram) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    TinyProgram whole, part;
    std::vector<InsertedEvent> inserted;
    std::vector<std::pair<EventNo, EventNo>> positions;  // just before an event of both
    std::optional<EventNo> last;
    for (int i = 0; i < 40; ++i) {
      std::uint64_t offset = 64 * (random() % 3);
      auto thread = static_cast<ThreadNo>(1 + random() % 2);
      unsigned what = random() % 3;
      bool missing = what != 0 && last && random() % 2 == 0;
      auto make = [&](TinyProgram& p) {
        return what == 0   ? p.store(thread, offset, random() % 2 + 1, 8)
               : what == 1 ? p.clwb(thread, offset)
                           : p.sfence(thread);
      };
      if (what == 1 && !last) continue;
      EventNo a = make(whole);
      if (missing) {
        // One event at a time, in their order.
        inserted.push_back(
            {*last, false, thread, what == 1 ? std::optional(lineOf(part.at(offset))) : std::nullopt, what == 2});
        if (what == 2) last.reset();  // what follows at the same event would be sorted before the fence
        continue;
      }
      EventNo b = make(part);
      positions.emplace_back(a, b);
      last = b;
    }
    const Index &w = whole.index(), &p = part.index();
    auto cured = withInserted(p, inserted);
    ASSERT_TRUE(cured);
    ASSERT_EQ(w.stores().size(), cured->stores().size());
    for (StoreNo s : idRange<StoreNo>(w.stores().size()))
      for (const auto& [a, b] : positions)
        EXPECT_EQ(w.stores()[s].guaranteedAt < a, cured->stores()[s].guaranteedAt < b) << "seed " << seed;
  }
}

}  // namespace
}  // namespace blackout
