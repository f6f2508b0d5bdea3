// Litmus tests of docs/semantics.md: one tiny program per rule and per item that is easily got wrong,
// with the exact set of states that a crash may leave. States that are not listed are forbidden.
#include <gtest/gtest.h>

#include "tiny_program.h"

namespace blackout::test {
namespace {

constexpr std::uint64_t A = 0;    // line 0
constexpr std::uint64_t A2 = 8;   // another 8-byte unit of line 0
constexpr std::uint64_t B = 64;   // line 1
constexpr std::uint64_t C = 128;  // line 2

// The points that are enough must show every state that points=all shows.
void expectPointsAreEnough(TinyProgram& p, const std::vector<std::uint64_t>& offsets, std::string_view options = "") {
  EXPECT_EQ(p.statesOver(PointsMode::Enough, offsets, options), p.statesOver(PointsMode::All, offsets, options));
}
void expectAtEnd(TinyProgram& p, const std::vector<std::uint64_t>& offsets, const States& states,
                 std::string_view options = "") {
  EXPECT_EQ(p.statesAtEnd(offsets, options), states);
  expectPointsAreEnough(p, offsets, options);
}

TEST(Litmus, StoresToOneLineSurviveAsPrefix) {
  TinyProgram p;
  p.store(1, A, 1);
  p.store(1, A2, 2);
  p.store(1, A, 3);
  expectAtEnd(p, {A, A2}, {{0, 0}, {1, 0}, {1, 2}, {3, 2}});
}

TEST(Litmus, LinesAreIndependent) {
  TinyProgram p;
  p.store(1, A, 1);
  p.store(1, B, 2);
  expectAtEnd(p, {A, B}, {{0, 0}, {1, 0}, {0, 2}, {1, 2}});
}

TEST(Litmus, EqualContentsAreOneVersion) {
  TinyProgram p;
  p.store(1, A, 1);
  p.store(1, A, 0);
  p.store(1, A, 1);
  EXPECT_EQ(p.index().versionsOf(lineOf(p.at(A)), p.end()).versions.size(), 2U);
  expectAtEnd(p, {A}, {{0}, {1}});
}

TEST(Litmus, ClflushGuaranteesAtOnce) {
  TinyProgram p;
  p.store(1, A, 1);
  p.clflush(2, A);
  expectAtEnd(p, {A}, {{1}});
}

TEST(Litmus, ClflushIsOrderedWithLaterStores) {
  TinyProgram p;
  p.store(1, A, 1);
  p.clflush(1, A);
  p.store(1, B, 1);
  expectAtEnd(p, {A, B}, {{1, 0}, {1, 1}});
}

TEST(Litmus, ClwbAloneGuaranteesNothing) {
  TinyProgram p;
  p.store(1, A, 1);
  p.clwb(1, A);
  p.store(1, B, 1);  // not ordered with the clwb of another line
  expectAtEnd(p, {A, B}, {{0, 0}, {1, 0}, {0, 1}, {1, 1}});
}

TEST(Litmus, ClflushoptAloneGuaranteesNothing) {
  TinyProgram p;
  p.store(1, A, 1);
  p.clflushopt(1, A);
  expectAtEnd(p, {A}, {{0}, {1}});
}

TEST(Litmus, EveryFenceCompletesFlushes) {
  for (EventKind fence : {EventKind::Sfence, EventKind::Mfence, EventKind::RmwFence}) {
    for (EventKind flush : {EventKind::Clwb, EventKind::Clflushopt}) {
      TinyProgram p;
      p.store(1, A, 1);
      p.range(flush, 1, A, 0);
      p.event(fence);
      expectAtEnd(p, {A}, {{1}});
    }
  }
}

TEST(Litmus, FenceAloneGuaranteesNothing) {
  TinyProgram p;
  p.store(1, A, 1);
  p.sfence(1);
  expectAtEnd(p, {A}, {{0}, {1}});
}

TEST(Litmus, StoresBetweenClwbAndFenceAreNotCovered) {
  TinyProgram p;
  p.store(1, A, 1);
  p.clwb(1, A);
  p.store(1, A, 2);
  p.sfence(1);
  expectAtEnd(p, {A}, {{1}, {2}});
}

TEST(Litmus, ASecondClwbCoversTheStoreBetween) {
  TinyProgram p;
  p.store(1, A, 1);
  p.clwb(1, A);
  p.store(1, A, 2);
  p.clwb(1, A);
  p.sfence(1);
  expectAtEnd(p, {A}, {{2}});
}

TEST(Litmus, FenceOfAnotherThreadGuaranteesNothing) {
  TinyProgram p;
  p.store(1, A, 1);
  p.clwb(1, A);
  p.sfence(2);
  expectAtEnd(p, {A}, {{0}, {1}});
}

TEST(Litmus, ClwbCoversStoresOfOtherThreads) {
  TinyProgram p;
  p.store(2, A, 1);
  p.clwb(1, A);
  p.sfence(1);
  expectAtEnd(p, {A}, {{1}});
}

TEST(Litmus, PendingFlushesOfTwoThreadsToOneLine) {
  TinyProgram p;
  p.store(1, A, 1);
  p.clwb(1, A);
  p.store(2, A, 2);
  p.clwb(2, A);
  p.clwb(1, B);
  p.sfence(1);  // completes thread 1's clwb only
  expectAtEnd(p, {A}, {{1}, {2}});
}

TEST(Litmus, FlushBeforeStoreGuaranteesNothing) {
  TinyProgram p;
  p.clwb(1, A);
  p.store(1, A, 1);
  p.sfence(1);
  expectAtEnd(p, {A}, {{0}, {1}});
}

TEST(Litmus, AFenceDoesNotCompleteAFlushTwice) {
  TinyProgram p;
  p.store(1, A, 1);
  p.clwb(1, A);
  p.sfence(1);
  p.store(1, A, 2);
  p.sfence(1);
  expectAtEnd(p, {A}, {{1}, {2}});
}

TEST(Litmus, LfenceThreadSwitchAndExitGuaranteeNothing) {
  for (EventKind kind : {EventKind::Lfence, EventKind::ThreadBegin, EventKind::ThreadEnd, EventKind::Fork,
                         EventKind::Exec, EventKind::End, EventKind::ThreadCreate, EventKind::SyncStart}) {
    TinyProgram p;
    p.store(1, A, 1);
    p.clwb(1, A);
    p.event(kind);
    expectAtEnd(p, {A}, {{0}, {1}});
  }
}

TEST(Litmus, RmwOnPmIsFenceThenStore) {
  TinyProgram p;
  p.store(1, A, 1);
  p.clwb(1, A);
  p.rmw(1, B, 2);
  expectAtEnd(p, {A, B}, {{1, 0}, {1, 2}});  // never the RMW's store without A
}

TEST(Litmus, RmwOfAnotherThreadIsNoFenceForThisOne) {
  TinyProgram p;
  p.store(1, A, 1);
  p.clwb(1, A);
  p.rmw(2, B, 2);
  expectAtEnd(p, {A, B}, {{0, 0}, {0, 2}, {1, 0}, {1, 2}});
}

TEST(Litmus, RmwFencesOff) {
  TinyProgram p;
  p.store(1, A, 1);
  p.clwb(1, A);
  p.event(EventKind::RmwFence);
  p.rmw(1, B, 2);
  expectAtEnd(p, {A, B}, {{0, 0}, {0, 2}, {1, 0}, {1, 2}}, "rmw-fences=off");
  expectAtEnd(p, {A, B}, {{1, 0}, {1, 2}}, "rmw-fences=on");
}

TEST(Litmus, LocksFenceOnlyOnceAThreadWasCreated) {
  for (EventKind lock : {EventKind::Lock, EventKind::Unlock}) {
    TinyProgram alone;
    alone.store(1, A, 1);
    alone.clwb(1, A);
    alone.event(lock);
    expectAtEnd(alone, {A}, {{0}, {1}});

    TinyProgram threaded;
    threaded.event(EventKind::ThreadCreate);
    threaded.store(1, A, 1);
    threaded.clwb(1, A);
    threaded.event(lock);
    expectAtEnd(threaded, {A}, {{1}});
    expectAtEnd(threaded, {A}, {{0}, {1}}, "rmw-fences=off");
  }
}

TEST(Litmus, SixteenByteStoreIsOneStore) {
  TinyProgram p;
  EventNo n = p.rmw16(1, A, 1, 2);
  p.rmw16(1, A, 3, 4);
  expectAtEnd(p, {A, A2}, {{0, 0}, {1, 2}, {3, 4}});
  for (EventNo point : p.index().points(PointsMode::All)) EXPECT_NE(point, n + 1) << "between the halves";
}

TEST(Litmus, WideStoreInAddressOrder) {
  TinyProgram p;
  p.wide(1, A, std::string("11111111222222223", 17));
  int one = '1', two = '2', three = '3';
  expectAtEnd(p, {A, A2, 16}, {{0, 0, 0}, {one, 0, 0}, {one, two, 0}, {one, two, three}});
}

TEST(Litmus, WideStoreInAnyOrder) {
  TinyProgram p;
  p.store(1, 24, 9);
  p.wide(1, A, "1111111122222222");
  p.store(1, 32, 9);
  int one = '1', two = '2';
  // The pieces are unordered with each other only: not with the stores around them.
  expectAtEnd(p, {24, A, A2, 32},
              {{0, 0, 0, 0}, {9, 0, 0, 0}, {9, one, 0, 0}, {9, 0, two, 0}, {9, one, two, 0}, {9, one, two, 9}},
              "wide-order=any");
}

TEST(Litmus, TwoWideStoresAreOrdered) {
  TinyProgram p;
  p.wide(1, A, "1111111122222222");
  p.wide(1, 16, "3333333344444444");
  States states = p.statesAtEnd({A, A2, 16, 24}, "wide-order=any");
  EXPECT_TRUE(states.contains({0, '2', 0, 0}));
  EXPECT_TRUE(states.contains({'1', '2', 0, '4'}));
  EXPECT_FALSE(states.contains({0, '2', '3', 0}));
  EXPECT_EQ(states.size(), 7U);
  expectPointsAreEnough(p, {A, A2, 16, 24}, "wide-order=any");
}

TEST(Litmus, WideStoreIsCoveredAsAWhole) {
  TinyProgram p;
  p.wide(1, A, "1111111122222222");
  p.clwb(1, A);
  p.sfence(1);
  expectAtEnd(p, {A, A2}, {{'1', '2'}}, "wide-order=any");
}

TEST(Litmus, NonTemporalStoreIsGuaranteedByOwnFenceAlone) {
  TinyProgram p;
  p.nt(1, A, 1);
  p.nt(2, B, 2);
  p.sfence(1);
  expectAtEnd(p, {A, B}, {{1, 0}, {1, 2}});
}

TEST(Litmus, NonTemporalStoreIsGuaranteedByRmwToo) {
  TinyProgram p;
  p.nt(1, A, 1);
  p.event(EventKind::RmwFence);
  expectAtEnd(p, {A}, {{1}});
}

TEST(Litmus, ClflushDoesNotCompleteNonTemporalStores) {
  for (std::string_view order : {"nt-order=program", "nt-order=any"}) {
    TinyProgram p;
    p.nt(1, A, 1);
    p.clflush(1, A);
    expectAtEnd(p, {A}, {{0}, {1}}, order);
  }
}

TEST(Litmus, ClwbAndFenceOfAnotherThreadDoNotCompleteNonTemporalStores) {
  TinyProgram p;
  p.nt(1, A, 1);
  p.clwb(2, A);
  p.sfence(2);
  expectAtEnd(p, {A}, {{0}, {1}});
}

TEST(Litmus, NonTemporalStoresInProgramOrder) {
  TinyProgram p;
  p.nt(1, A, 1);
  p.store(1, A2, 2);
  expectAtEnd(p, {A, A2}, {{0, 0}, {1, 0}, {1, 2}});
}

TEST(Litmus, NonTemporalStoresInAnyOrder) {
  TinyProgram p;
  p.nt(1, A, 1);
  p.store(1, A2, 2);
  expectAtEnd(p, {A, A2}, {{0, 0}, {1, 0}, {0, 2}, {1, 2}}, "nt-order=any");
}

TEST(Litmus, NonTemporalStoresToOneUnitKeepTheirOrder) {
  TinyProgram p;
  p.store(1, A, 1);
  p.nt(1, A + 1, 2, 1);
  p.store(1, A + 2, 3);
  expectAtEnd(p, {A, A + 1, A + 2}, {{0, 0, 0}, {1, 0, 0}, {1, 2, 0}, {1, 2, 3}}, "nt-order=any");
}

TEST(Litmus, AGuaranteeDragsInWhatIsOrderedBefore) {
  TinyProgram p;
  p.store(1, A2, 1);
  p.store(1, A, 2);
  p.nt(2, A, 3);
  p.sfence(2);  // guarantees the NT store, so the store to its unit, so the cached one before that
  expectAtEnd(p, {A, A2}, {{3, 1}}, "nt-order=any");
  expectAtEnd(p, {A, A2}, {{3, 1}}, "nt-order=program");
}

TEST(Litmus, ClflushLeavesNonTemporalStoresOfOtherUnitsOpen) {
  TinyProgram p;
  p.nt(1, A, 1);
  p.store(1, A2, 2);
  p.clflush(1, A);
  expectAtEnd(p, {A, A2}, {{0, 2}, {1, 2}}, "nt-order=any");
  expectAtEnd(p, {A, A2}, {{1, 2}}, "nt-order=program");
}

// The non-temporal store drags in one piece of the wide store and not its neighbour, so the last
// cached store is guaranteed while an earlier one is not: a flush still has work to do.
TEST(Litmus, APieceOfAWideStoreMayBeGuaranteedAlone) {
  TinyProgram p;
  p.wide(1, A, "1111111122222222");
  p.nt(2, A2, 3);
  EventNo fence = p.sfence(2);
  p.clflush(1, A);
  EXPECT_EQ(p.statesAt(fence + 1, {A, A2}, "wide-order=any,nt-order=any"), (States{{0, 3}, {'1', 3}}));
  expectAtEnd(p, {A, A2}, {{'1', 3}}, "wide-order=any,nt-order=any");
  EXPECT_TRUE(p.index("wide-order=any,nt-order=any").wastes().empty());
}

TEST(Litmus, FeasibleVersionsAreASetNotAnInterval) {
  TinyProgram p;
  p.nt(1, A, 1);
  p.nt(1, A2, 2);
  p.nt(1, 16, 3);
  const Index& index = p.index("nt-order=any");
  LineVersions versions = index.versionsOf(lineOf(p.at(A)), p.end());
  EXPECT_EQ(versions.versions.size(), 8U);
  EXPECT_EQ(versions.downSets, 8U);
  Version lastOnly{0, {2}};
  EXPECT_TRUE(index.isFeasible(lineOf(p.at(A)), p.end(), lastOnly));
  EXPECT_FALSE(p.index().isFeasible(lineOf(p.at(A)), p.end(), lastOnly));
}

TEST(Litmus, MsyncFlushesItsRangeForStoresBeforeTheCall) {
  TinyProgram p;
  p.store(1, A, 1);
  p.store(1, C, 1);
  p.event(EventKind::SyncStart, 1);
  p.store(2, B, 1);
  p.store(2, A, 2);
  p.range(EventKind::Msync, 1, A, 128);  // lines of A and B
  expectAtEnd(p, {A, B, C}, {{1, 0, 0}, {2, 0, 0}, {1, 1, 0}, {2, 1, 0}, {1, 0, 1}, {2, 0, 1}, {1, 1, 1}, {2, 1, 1}});
}

TEST(Litmus, MsyncLeavesOtherPendingFlushesPending) {
  TinyProgram p;
  p.store(1, C, 1);
  p.clwb(1, C);
  p.event(EventKind::SyncStart, 1);
  p.range(EventKind::Msync, 1, A, 64);
  expectAtEnd(p, {C}, {{0}, {1}});
}

TEST(Litmus, FsyncCoversTheFileAndOwnNonTemporalStores) {
  TinyProgram p;
  p.store(1, A, 1);
  p.nt(1, B, 1);
  p.nt(2, C, 1);
  p.event(EventKind::SyncStart, 1);
  p.range(EventKind::Fsync, 1, 0, 0);
  expectAtEnd(p, {A, B, C}, {{1, 1, 0}, {1, 1, 1}});
}

TEST(Litmus, ASyncStartServesUntilTheNext) {
  TinyProgram p;
  p.store(1, A, 1);
  p.store(1, C, 1);
  p.event(EventKind::SyncStart, 1);
  p.store(2, C, 2);
  p.range(EventKind::Msync, 1, A, 64);  // one call over two mappings
  p.range(EventKind::Msync, 1, C, 64);
  expectAtEnd(p, {A, C}, {{1, 1}, {1, 2}});
  TinyProgram again;
  again.event(EventKind::SyncStart, 1);
  again.range(EventKind::Fsync, 1, 0, 0);
  again.store(1, A, 1);
  again.event(EventKind::SyncStart, 1);
  again.range(EventKind::Fsync, 1, 0, 0);
  expectAtEnd(again, {A}, {{1}});
}

TEST(Litmus, ASyncWithoutAStartCoversWhatCameBefore) {
  TinyProgram p;
  p.store(1, A, 1);
  p.range(EventKind::Fsync, 1, 0, 0);
  expectAtEnd(p, {A}, {{1}});
}

TEST(Litmus, StoresFromBeforeTheRegionAreUncertainInside) {
  TinyProgram p;
  p.store(1, A, 1);
  EventNo begin = p.event(EventKind::RoiBegin);
  p.store(1, B, 1);
  p.clwb(1, B);
  p.sfence(1);
  EventNo end = p.event(EventKind::RoiEnd);
  p.store(1, C, 1);
  for (PointsMode mode : {PointsMode::Enough, PointsMode::All}) {
    auto points = p.index().points(mode);
    ASSERT_FALSE(points.empty());
    EXPECT_GT(points.front(), begin);
    EXPECT_LE(points.back(), end);
  }
  EXPECT_EQ(p.statesAt(end, {A, B}), (States{{0, 1}, {1, 1}}));
}

TEST(Litmus, EadrGuaranteesCachedStoresAtOnce) {
  TinyProgram p;
  p.store(1, A, 1);
  p.nt(1, B, 1);
  expectAtEnd(p, {A, B}, {{1, 0}, {1, 1}}, "model=eadr");
}

TEST(Litmus, EadrFencesNonTemporalStores) {
  TinyProgram p;
  p.nt(1, A, 1);
  p.sfence(1);
  expectAtEnd(p, {A}, {{1}}, "model=eadr");
}

TEST(Litmus, EadrHasEveryPieceAsAPoint) {
  TinyProgram p;
  p.wide(1, A, "1111111122222222");
  p.store(1, A, 3);
  EXPECT_EQ(p.statesOver(PointsMode::Enough, {A, A2}, "model=eadr"), (States{{0, 0}, {'1', 0}, {'1', '2'}, {3, '2'}}));
  EXPECT_EQ(p.index("model=eadr").points(PointsMode::Enough).size(), 4U);
}

TEST(Litmus, EadrWideStoreInAnyOrder) {
  TinyProgram p;
  p.wide(1, A, "1111111122222222");
  p.event(EventKind::End);
  expectAtEnd(p, {A, A2}, {{'1', '2'}}, "model=eadr,wide-order=any");
  EXPECT_EQ(p.statesOver(PointsMode::Enough, {A, A2}, "model=eadr,wide-order=any"),
            (States{{0, 0}, {'1', 0}, {0, '2'}, {'1', '2'}}));
}

}  // namespace
}  // namespace blackout::test
