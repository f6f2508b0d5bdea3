// Stores that are never made durable, and their lookalikes.
#include "judged_program.h"

namespace blackout::test {
namespace {

constexpr std::string_view kDetector = "never-persisted";

NotDurable claimOf(const Finding& f) { return std::get<NotDurable>(f.claim); }

TEST(NeverPersisted, AtExit) {
  JudgedProgram p;
  StackId w = p.place(7, SiteKind::Store, "List.head");
  p.storeAt(w, 0);
  expectFound(p, kDetector, {1, 1});
  Finding f = p.found(kDetector)[0];
  EXPECT_EQ(f.severity, Severity::Suspected);
  EXPECT_EQ(claimOf(f).when, NotDurable::When::ProgramEnded);
  EXPECT_EQ(claimOf(f).store.bytes.type, "List.head");
  EXPECT_FALSE(claimOf(f).flushed);
  ASSERT_EQ(f.places.size(), 2U);
  EXPECT_EQ(f.places[0].where, w);
  EXPECT_EQ(f.places[0].siteId, 7U);
  EXPECT_EQ(f.places[1].label, "the program ends here");
  EXPECT_EQ(f.examples, (std::vector<AffectedBytes>{{"/pool", 0, 8, "List.head"}}));
}

TEST(NeverPersisted, FlushedButNotFenced) {
  JudgedProgram p;
  StackId w = p.place(7);
  StackId flush = p.place(8, SiteKind::Clwb);
  p.storeAt(w, 0);
  p.flushAt(flush, 0);
  expectFound(p, kDetector, {1, 1});
  Finding f = p.found(kDetector)[0];
  EXPECT_TRUE(claimOf(f).flushed);
  ASSERT_EQ(f.places.size(), 3U);
  EXPECT_EQ(f.places[1].siteId, 8U);
}

TEST(NeverPersisted, NonTemporalWithoutAFence) {
  JudgedProgram p;
  p.nt(1, 0, 1);
  p.clflush(1, 0);  // does not complete it
  expectFound(p, kDetector, {1, 1});
  EXPECT_TRUE(claimOf(p.found(kDetector)[0]).nonTemporal);
}

TEST(NeverPersisted, NotWhatWasPersisted) {
  JudgedProgram p;
  p.store(1, 0, 1);
  p.persist(0);
  p.store(1, 64, 1);
  p.clflush(1, 64);
  p.nt(1, 128, 1);
  p.sfence(1);
  p.store(1, 192, 1);
  p.event(EventKind::SyncStart);
  p.range(EventKind::Fsync, 1, 0, 0);
  expectNothing(p, kDetector);
}

TEST(NeverPersisted, EadrNeedsNoFlush) {
  JudgedProgram p;
  p.store(1, 0, 1);
  expectNothing(p, kDetector, "model=eadr");
  EXPECT_EQ(p.found(kDetector).size(), 1U);
}

TEST(NeverPersisted, NotAStoreThatChangesNothing) {
  JudgedProgram p;
  p.store(1, 0, 0);  // the file is new: zeros
  p.store(1, 64, 5);
  p.persist(64);
  p.store(1, 64, 5);
  expectNothing(p, kDetector);
}

TEST(NeverPersisted, AStoreThatChangesNothingHidesNothing) {
  JudgedProgram p;
  StackId first = p.place(1);
  StackId second = p.place(2);
  p.storeAt(first, 0, 7, 8);
  p.storeAt(second, 0, 7, 8);
  auto findings = p.found(kDetector);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].places[0].siteId, 1U);
}

TEST(NeverPersisted, OnlyStoresThatAreStillVisible) {
  JudgedProgram p;
  StackId first = p.place(1);
  StackId second = p.place(2);
  p.storeAt(first, 0, 1, 8);
  p.storeAt(second, 0, 2, 4);
  p.storeAt(second, 4, 3, 4);
  auto findings = p.found(kDetector);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].places[0].siteId, 2U);
  EXPECT_EQ(findings[0].counts, (Counts{2, 2}));
}

TEST(NeverPersisted, AVisibleByteIsEnough) {
  JudgedProgram p;
  p.storeAt(p.place(1), 0, 0x1111111111111111, 8);
  p.storeAt(p.place(2), 0, 0x22222222222222, 7);
  EXPECT_EQ(p.found(kDetector).size(), 2U);
}

TEST(NeverPersisted, GroupedBySiteAndCounted) {
  JudgedProgram p;
  StackId w = p.place(1);
  StackId again = p.place(1);  // the same instruction by another way
  for (std::uint64_t i = 0; i < 5; ++i) p.storeAt(i % 2 == 0 ? w : again, 64 * i);
  p.persist(0);
  p.persist(64);
  expectFound(p, kDetector, {3, 5});
  EXPECT_EQ(p.found(kDetector)[0].places[0].where, w);  // of the first occurrence, the third store
}

TEST(NeverPersisted, WorstFirst) {
  JudgedProgram p;
  StackId few = p.place(1);
  StackId many = p.place(2);
  p.storeAt(few, 0);
  p.storeAt(many, 64);
  p.storeAt(many, 128);
  auto findings = p.found(kDetector);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].places[0].siteId, 2U);
}

TEST(NeverPersisted, AWideStoreCountsOnce) {
  JudgedProgram p;
  p.writer.store(EventKind::Store, 1, p.at(0), std::string(200, 'x'), p.place(1, SiteKind::Copy));
  expectFound(p, kDetector, {1, 1});
  EXPECT_EQ(p.found(kDetector)[0].examples, (std::vector<AffectedBytes>{{"/pool", 0, 200, ""}}));
  EXPECT_EQ(claimOf(p.found(kDetector)[0]).bytes, 200U);
}

TEST(NeverPersisted, UnknownPlacesAreGroupedByKind) {
  JudgedProgram p;
  p.store(1, 0, 1);
  p.store(1, 64, 1);
  p.nt(1, 128, 1);
  auto findings = p.found(kDetector);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].counts, (Counts{2, 2}));
  EXPECT_EQ(findings[0].places[0].access, "store");
  EXPECT_EQ(findings[1].places[0].access, "store-nt");
}

TEST(NeverPersisted, AtTheEndOfItsOperation) {
  JudgedProgram p;
  p.opBegin(1, "put");
  EventNo stored = p.storeAt(p.place(1), 0);
  p.opEnd(1);
  p.clwb(1, 0);  // too late
  EventNo fence = p.sfence(1);
  expectFound(p, kDetector, {1, 1});
  Finding f = p.found(kDetector)[0];
  EXPECT_EQ(f.operation, "put");
  NotDurable claim = claimOf(f);
  EXPECT_EQ(claim.when, NotDurable::When::OperationEnded);
  EXPECT_EQ(claim.bytes, 8U);
  EXPECT_FALSE(claim.flushed || claim.nonTemporal);
  EXPECT_EQ(claim.store.event, stored);
  EXPECT_EQ(claim.store.place.value(), 1U);
  EXPECT_EQ(integerOf(claim.store.bytes.before), 0U);
  EXPECT_EQ(integerOf(claim.store.bytes.after), 1U);
  EXPECT_EQ(f.places[1].label, "the operation ends here");
  ASSERT_EQ(f.evidence.size(), 2U);
  EXPECT_EQ(std::get<DurableTooLate>(f.evidence[0]).event, fence);
}

TEST(NeverPersisted, JudgedOnce) {
  JudgedProgram p;
  p.opBegin(1, "put");
  p.storeAt(p.place(1), 0);
  p.opEnd(1);
  expectFound(p, kDetector, {1, 1});  // not at exit again
  EXPECT_EQ(p.found(kDetector)[0].evidence, (std::vector<Fact>{NeverDurable{}, TriedDurable{CureKind::Flush}}));
}

// What a crash has shown to be lost is one mistake with it, if one cure helps both.
TEST(NeverPersisted, IsToldWithWhatShowsIt) {
  JudgedProgram p;
  p.storeAt(p.place(1), 0);
  p.storeAt(p.place(2), 64);
  auto joinedWith = [&](FindingKind kind, CureKind cure) {
    std::vector<Finding> findings = p.found(kDetector);
    EXPECT_EQ(findings.size(), 2U);
    CrashCause cause;
    cause.first.emplace().place = 2;
    Finding shown = makeFinding(kind, cause);
    shown.places = {findings[0].places[0], findings[0].places[0]};
    shown.places[0].siteId = 99;
    shown.shownBy.emplace();
    shown.evidence = {TriedCure{cure, 2}};
    findings.push_back(shown);
    joinNotDurable(findings);
    return findings;
  };
  std::vector<Finding> one = joinedWith(FindingKind::MissingFlush, CureKind::Flush);
  ASSERT_EQ(one.size(), 2U);
  EXPECT_EQ(one[0].kind, FindingKind::NeverPersisted);
  EXPECT_NE(one[0].places[0].siteId, one[1].places[1].siteId);
  EXPECT_EQ(one[1].evidence, (std::vector<Fact>{TriedCure{CureKind::Flush, 2},
                                                NotDurableEither{2, NotDurable::When::ProgramEnded, 1, 1}}));
  // Another cure, or a cause that no flush cures, is another mistake.
  EXPECT_EQ(joinedWith(FindingKind::MissingFence, CureKind::Fence).size(), 3U);
  EXPECT_EQ(joinedWith(FindingKind::WrongOrder, CureKind::Order).size(), 3U);
}

// What would have been enough is tried: the smallest that makes all of them durable.
TEST(NeverPersisted, SaysWhatWasTried) {
  auto tried = [](JudgedProgram& p) { return std::get<TriedDurable>(p.found(kDetector)[0].evidence.back()).cure; };
  JudgedProgram unflushed;
  unflushed.storeAt(unflushed.place(1), 0);
  EXPECT_EQ(tried(unflushed), CureKind::Flush);
  JudgedProgram unfenced;
  unfenced.storeAt(unfenced.place(1), 0);
  unfenced.clwb(1, 0);
  EXPECT_EQ(tried(unfenced), CureKind::Fence);
  // A fence after the one flush leaves the other store.
  JudgedProgram both;
  StackId place = both.place(1);
  both.storeAt(place, 0);
  both.clwb(1, 0);
  both.storeAt(place, 64);
  EXPECT_EQ(tried(both), CureKind::Flush);
}

TEST(NeverPersisted, NotWhatTheOperationPersisted) {
  JudgedProgram p;
  p.opBegin(1, "put");
  p.store(1, 0, 1);
  p.persist(0);
  p.opEnd(1);
  expectNothing(p, kDetector);
}

TEST(NeverPersisted, NotStoresOfAnotherThreadsOperation) {
  JudgedProgram p;
  p.opBegin(1, "put");
  p.store(2, 0, 1);  // thread 2 is in no operation
  p.opEnd(1);
  p.persist(0, 2);
  expectNothing(p, kDetector);
}

TEST(NeverPersisted, TheOutermostOperationCounts) {
  JudgedProgram p;
  p.opBegin(1, "put");
  p.opBegin(1, "helper");
  p.store(1, 0, 1);
  p.opEnd(1);
  p.persist(0);  // in time for put
  p.opEnd(1);
  expectNothing(p, kDetector);
}

TEST(NeverPersisted, OverwrittenInTheOperation) {
  JudgedProgram p;
  p.opBegin(1, "put");
  p.store(1, 0, 1);
  p.store(1, 0, 2);
  p.persist(0);
  p.opEnd(1);
  expectNothing(p, kDetector);
}

TEST(NeverPersisted, AtUnmap) {
  JudgedProgram p;
  p.map(0, 4096);
  p.storeAt(p.place(1), 0);
  p.range(EventKind::Unmap, 1, 0, 4096);
  expectFound(p, kDetector, {1, 1});
  EXPECT_EQ(p.found(kDetector)[0].places[1].label, "unmapped here");
}

TEST(NeverPersisted, PersistedBeforeUnmap) {
  JudgedProgram p;
  p.map(0, 4096);
  p.store(1, 0, 1);
  p.persist(0);
  p.range(EventKind::Unmap, 1, 0, 4096);
  expectNothing(p, kDetector);
}

TEST(NeverPersisted, StillMappedElsewhere) {
  JudgedProgram p;
  p.map(0, 4096, 0x10000);
  p.map(0, 4096, 0x20000);
  p.store(1, 0, 1);
  p.range(EventKind::Unmap, 1, 0, 4096);
  p.persist(0);  // through the other mapping
  expectNothing(p, kDetector);
}

// Of a mapping whose front was unmapped the tail stays: what another mapping gives up is still in reach there.
TEST(NeverPersisted, StillMappedByTheTailOfAnother) {
  JudgedProgram p(8192);
  p.map(0, 8192, 0x10000);
  p.range(EventKind::Unmap, 1, 0, 4096);  // its front
  p.map(4096, 4096, 0x20000);
  p.store(1, 4096, 1);
  p.range(EventKind::Unmap, 1, 4096, 4096);
  p.persist(4096);  // through the tail
  expectNothing(p, kDetector);
}

TEST(NeverPersisted, RemappedMemoryIsStillInReach) {
  JudgedProgram p;
  p.map(0, 4096, 0x10000);
  p.store(1, 0, 1);
  p.range(EventKind::Unmap, 1, 0, 4096);  // mremap
  p.map(0, 8192, 0x20000);
  p.persist(0);
  expectNothing(p, kDetector);
  JudgedProgram never;
  never.map(0, 4096, 0x10000);
  never.store(1, 0, 1);
  never.range(EventKind::Unmap, 1, 0, 4096);
  never.map(0, 8192, 0x20000);
  ASSERT_EQ(never.found(kDetector).size(), 1U);
  EXPECT_EQ(never.found(kDetector)[0].places[1].label, "the program ends here");
}

TEST(NeverPersisted, FreedMemoryDoesNotMatter) {
  JudgedProgram p;
  p.store(1, 0, 1, 8);
  p.range(EventKind::Discard, 1, 0, 8);
  expectNothing(p, kDetector);
  JudgedProgram again;
  again.store(1, 0, 1, 8);
  again.range(EventKind::Discard, 1, 0, 8);
  again.store(1, 0, 2, 8);  // matters again
  EXPECT_EQ(again.found(kDetector).size(), 1U);
  JudgedProgram part;
  part.store(1, 0, 0x1111111111111111, 8);
  part.range(EventKind::Discard, 1, 0, 7);
  EXPECT_EQ(part.found(kDetector).size(), 1U);
}

TEST(NeverPersisted, LargeFreedRangeDoesNotMatter) {
  JudgedProgram p(1 << 20);
  p.store(1, 100000, 1);
  p.range(EventKind::Discard, 1, 0, 1 << 20);
  expectNothing(p, kDetector);
}

TEST(NeverPersisted, IgnoredMemoryNeverMatters) {
  JudgedProgram p;
  p.range(EventKind::Ignore, 1, 0, 64);
  p.range(EventKind::Ignore, 1, 128, 4);
  p.store(1, 0, 1);
  p.store(1, 128, 1, 4);
  expectNothing(p, kDetector);
  JudgedProgram other;
  other.range(EventKind::Ignore, 1, 0, 64);
  other.store(1, 64, 1);
  EXPECT_EQ(other.found(kDetector).size(), 1U);
}

TEST(NeverPersisted, RemovedFilesAndCutOffBytesDoNotMatter) {
  JudgedProgram removed;
  removed.store(1, 0, 1);
  removed.range(EventKind::FileUnlink, 1, 0, 0);
  expectNothing(removed, kDetector);
  JudgedProgram shrunk;
  shrunk.store(1, 1000, 1);
  shrunk.range(EventKind::FileSize, 1, 0, 500);
  expectNothing(shrunk, kDetector);
  JudgedProgram punched;
  punched.store(1, 1000, 1);
  punched.range(EventKind::FileZero, 1, 960, 64);
  expectNothing(punched, kDetector);
}

TEST(NeverPersisted, OnlyInsideTheRegionOfInterest) {
  JudgedProgram p;
  p.storeAt(p.place(1), 0);
  p.event(EventKind::RoiBegin);
  p.storeAt(p.place(2), 64);
  p.event(EventKind::RoiEnd);
  p.storeAt(p.place(3), 128);
  auto findings = p.found(kDetector);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].places[0].siteId, 2U);
}

TEST(NeverPersisted, SaysThatItDependsOnRmwFences) {
  JudgedProgram p;
  p.store(1, 0, 1);
  p.clwb(1, 0);
  p.event(EventKind::RmwFence);
  expectNothing(p, kDetector);
  auto findings = p.found(kDetector, "rmw-fences=off");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].evidence, (std::vector<Fact>{DurableWithRmwFences{}, TriedDurable{CureKind::Fence}}));
}

TEST(NeverPersisted, SilentWhenBlind) {
  JudgedProgram p;
  p.store(1, 0, 1);
  EXPECT_TRUE(p.found(kDetector, "", true).empty());
}

}  // namespace
}  // namespace blackout::test
