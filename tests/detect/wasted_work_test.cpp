// Flushes of clean lines, repeated flushes and idle fences, and what only looks like them.
#include "judged_program.h"

namespace blackout::test {
namespace {

TEST(CleanFlush, OfALineThatNobodyStoredTo) {
  JudgedProgram p;
  p.flushAt(p.place(1, SiteKind::Clwb), 0);
  expectFound(p, "clean-flush", {1, 1});
  EXPECT_EQ(p.found("clean-flush")[0].severity, Severity::Performance);
  expectNothing(p, "repeated-flush");
}

TEST(CleanFlush, CountedPerSite) {
  JudgedProgram p;
  StackId w = p.place(1, SiteKind::Clwb);
  for (std::uint64_t i = 0; i < 6; ++i) {
    if (i % 3 == 0) p.store(1, 64 * i, 1);
    p.flushAt(w, 64 * i);
  }
  p.sfence(1);
  expectFound(p, "clean-flush", {4, 6});
}

TEST(CleanFlush, OfALineThatIsDurableAlready) {
  JudgedProgram p;
  p.nt(1, 0, 1);
  p.sfence(1);
  p.clwb(1, 0);  // a non-temporal store leaves nothing in the cache
  p.sfence(1);
  expectFound(p, "clean-flush", {1, 1});
}

TEST(CleanFlush, NotOfADirtyLine) {
  for (EventKind kind : {EventKind::Clflush, EventKind::Clflushopt, EventKind::Clwb}) {
    JudgedProgram p;
    p.store(1, 0, 1);
    p.range(kind, 1, 63, 0);  // any address of the line
    expectNothing(p, "clean-flush");
    expectNothing(p, "repeated-flush");
  }
}

TEST(CleanFlush, NotOfAnotherThreadsStore) {
  JudgedProgram p;
  p.store(2, 0, 1);
  p.clwb(1, 0);
  expectNothing(p, "clean-flush");
}

TEST(RepeatedFlush, WithoutAStoreInBetween) {
  for (EventKind first : {EventKind::Clflush, EventKind::Clflushopt, EventKind::Clwb}) {
    JudgedProgram p;
    p.store(1, 0, 1);
    p.range(first, 1, 0, 0);
    p.flushAt(p.place(1, SiteKind::Clwb), 0);
    p.sfence(1);
    expectFound(p, "repeated-flush", {1, 1});
    expectNothing(p, "clean-flush");
  }
}

TEST(RepeatedFlush, AfterAFenceToo) {
  JudgedProgram p;
  p.store(1, 0, 1);
  p.persist(0);
  p.flushAt(p.place(1, SiteKind::Clwb), 0);
  p.sfence(1);
  expectFound(p, "repeated-flush", {1, 1});
}

TEST(RepeatedFlush, NotAfterAStore) {
  JudgedProgram p;
  p.store(1, 0, 1);
  p.clwb(1, 0);
  p.store(1, 8, 1);
  p.clwb(1, 0);
  p.sfence(1);
  expectNothing(p, "repeated-flush");
}

TEST(RepeatedFlush, NotWhileTheOtherFlushIsAnotherThreads) {
  JudgedProgram p;
  p.store(1, 0, 1);
  p.clwb(1, 0);
  p.clwb(2, 0);  // pending for thread 1 only: thread 2's fence would not complete it
  expectNothing(p, "repeated-flush");
}

TEST(RepeatedFlush, OfAThreadWhoseFlushIsPendingThoughAnotherFlushedInBetween) {
  JudgedProgram p;
  p.store(1, 0, 1);
  p.clwb(1, 0);
  p.clwb(2, 0);
  p.clwb(1, 0);
  expectFound(p, "repeated-flush", {1, 3});
}

TEST(RepeatedFlush, AClflushAfterAPendingClwbIsNoWaste) {
  JudgedProgram p;
  p.store(1, 0, 1);
  p.clwb(1, 0);
  p.clflush(1, 0);  // makes it durable at once
  expectNothing(p, "repeated-flush");
}

TEST(RepeatedFlush, NotInMemoryThatDoesNotMatter) {
  JudgedProgram p;
  p.range(EventKind::Ignore, 1, 0, 64);
  p.clwb(1, 0);
  p.clwb(1, 0);
  expectNothing(p, "repeated-flush");
  expectNothing(p, "clean-flush");
}

TEST(IdleFence, WithNothingPending) {
  for (EventKind kind : {EventKind::Sfence, EventKind::Mfence}) {
    JudgedProgram p;
    p.fenceAt(p.place(1, SiteKind::Sfence), kind);
    expectFound(p, "idle-fence", {1, 1});
  }
}

TEST(IdleFence, ASecondFence) {
  JudgedProgram p;
  StackId w = p.place(1, SiteKind::Sfence);
  p.store(1, 0, 1);
  p.clwb(1, 0);
  p.fenceAt(w);
  p.fenceAt(w);
  expectFound(p, "idle-fence", {1, 2});
}

TEST(IdleFence, NotAfterAnyFlush) {
  for (EventKind flush : {EventKind::Clflush, EventKind::Clflushopt, EventKind::Clwb, EventKind::FlushOutside}) {
    for (EventKind fence : {EventKind::Sfence, EventKind::Mfence}) {
      JudgedProgram p;
      p.store(1, 0, 1);
      p.range(flush, 1, 0, 0);
      p.event(fence);
      expectNothing(p, "idle-fence");
    }
  }
}

TEST(IdleFence, NotAfterANonTemporalStore) {
  JudgedProgram p;
  p.nt(1, 0, 1);
  p.sfence(1);
  expectNothing(p, "idle-fence");
}

TEST(IdleFence, AnMfenceMayOrderAStoreWithALoad) {
  JudgedProgram p;
  p.store(1, 0, 1);
  p.mfence(1);
  expectNothing(p, "idle-fence");
  JudgedProgram withSfence;
  withSfence.store(1, 0, 1);
  withSfence.sfence(1);
  expectFound(withSfence, "idle-fence", {1, 1});
}

TEST(IdleFence, OtherThreadsFlushesAreNotItsOwn) {
  JudgedProgram p;
  p.store(1, 0, 1);
  p.clwb(1, 0);
  p.sfence(2);
  p.sfence(1);
  expectFound(p, "idle-fence", {1, 2});
}

TEST(IdleFence, LockedInstructionsAndLocksAreNeverReported) {
  JudgedProgram p;
  p.event(EventKind::ThreadCreate);
  p.event(EventKind::RmwFence);
  p.event(EventKind::Lock);
  p.event(EventKind::Unlock);
  p.event(EventKind::Lfence);
  p.rmw(1, 0, 1);
  expectNothing(p, "idle-fence");
}

TEST(IdleFence, ALockedInstructionTakesTheWorkAway) {
  JudgedProgram p;
  p.store(1, 0, 1);
  p.clwb(1, 0);
  p.event(EventKind::RmwFence);
  p.sfence(1);
  EXPECT_EQ(p.found("idle-fence").size(), 1U);
  expectNothing(p, "idle-fence", "rmw-fences=off");
}

TEST(WastedWork, OnlyInsideTheRegionOfInterest) {
  JudgedProgram p;
  p.sfence(1);
  p.clwb(1, 0);
  p.event(EventKind::RoiBegin);
  p.event(EventKind::RoiEnd);
  p.sfence(1);
  p.sfence(1);
  expectNothing(p, "idle-fence");
  expectNothing(p, "clean-flush");
}

TEST(WastedWork, SilentWhenBlind) {
  JudgedProgram p;
  p.sfence(1);
  p.clwb(1, 0);
  p.clwb(1, 0);
  for (std::string_view d : {"idle-fence", "clean-flush", "repeated-flush"}) {
    EXPECT_EQ(p.found(d).size(), 1U);
    EXPECT_TRUE(p.found(d, "", true).empty());
  }
}

}  // namespace
}  // namespace blackout::test
