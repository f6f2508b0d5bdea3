// Why a store could be lost: which flush counts as its own.
#include "judge/lost_store.h"

#include <algorithm>

#include "judged_program.h"

namespace blackout {
namespace {

using test::JudgedProgram;

StoreNo storeOf(const Index& index, EventNo n) {
  auto rows = index.stores();
  auto row = std::find_if(rows.begin(), rows.end(), [&](const StoreRow& s) { return s.event == n; });
  return static_cast<StoreNo>(row - rows.begin());
}

std::string why(JudgedProgram& p, EventNo store, EventNo relied) {
  const Index& index = p.index();
  return std::string(nameOf(whyLost(index, storeOf(index, store), relied).kind));
}

TEST(LostStore, TheFirstFlushDecides) {
  JudgedProgram p;
  EventNo s = p.store(1, 0, 1, 8);
  EventNo early = p.clwb(1, 0);
  EventNo t = p.store(1, 64, 1, 8);
  p.sfence(1);
  EXPECT_EQ(why(p, s, t), "missing-fence");
  EXPECT_EQ(whyLost(p.index(), storeOf(p.index(), s), t).flush, early);

  JudgedProgram q;
  s = q.store(1, 0, 1, 8);
  t = q.store(1, 64, 1, 8);
  EventNo late = q.clwb(1, 0);
  q.sfence(1);
  EXPECT_EQ(why(q, s, t), "wrong-order");
  EXPECT_EQ(whyLost(q.index(), storeOf(q.index(), s), t).flush, late);
}

TEST(LostStore, OtherLinesFlushesAreNone) {
  JudgedProgram p;
  EventNo s = p.store(1, 0, 1, 8);
  EventNo t = p.store(1, 64, 1, 8);
  p.clwb(1, 64);
  p.sfence(1);
  EXPECT_EQ(why(p, s, t), "missing-flush");
}

TEST(LostStore, MsyncOfItsRangeIsAFlush) {
  for (std::uint64_t size : {64, 63}) {
    JudgedProgram p;
    EventNo s = p.store(1, 64, 1, 8);
    EventNo t = p.store(1, 0, 1, 8);
    p.range(EventKind::Msync, 1, size == 64 ? 64 : 0, size);
    EXPECT_EQ(why(p, s, t), size == 64 ? "wrong-order" : "missing-flush");
  }
}

TEST(LostStore, AFlushOfALaterOperationIsNotItsOwn) {
  for (bool within : {true, false}) {
    JudgedProgram p;
    p.opBegin(1);
    EventNo s = p.store(1, 0, 1, 8);
    EventNo t = p.store(1, 64, 1, 8);
    if (within) p.clwb(1, 0);
    p.opEnd(1);
    if (!within) p.clwb(1, 0);
    p.sfence(1);
    EXPECT_EQ(why(p, s, t), within ? "wrong-order" : "missing-flush");
  }
}

// Another store to the line in between makes no difference: its own operation flushes it, too late.
TEST(LostStore, AFlushAfterAnotherStoreOfTheSameOperationIsItsOwn) {
  JudgedProgram p;
  p.opBegin(1);
  EventNo s = p.store(1, 0, 1, 8);
  EventNo t = p.store(1, 64, 1, 8);
  p.store(1, 8, 1, 8);
  p.clwb(1, 0);
  p.sfence(1);
  p.opEnd(1);
  EXPECT_EQ(why(p, s, t), "wrong-order");
}

TEST(LostStore, AFlushAfterTheBytesWereReplacedIsForTheNewOnes) {
  JudgedProgram p;
  EventNo s = p.store(1, 0, 1, 8);
  EventNo t = p.store(1, 64, 1, 8);
  p.store(1, 0, 2, 4);
  p.store(1, 4, 2, 4);
  p.clwb(1, 0);
  EXPECT_EQ(why(p, s, t), "missing-flush");
}

}  // namespace
}  // namespace blackout
