// Stores that another thread may see before they are durable: what makes a candidate, and each reason why there is
// none.
#include "detect/seen_early.h"

#include "judged_program.h"

namespace blackout::test {
namespace {

constexpr std::uint64_t kLock = 0x7000, kOther = 0x8000;

// Threads 1, 2 and 3 of the trace have these numbers under control, too.
class Threads : public JudgedProgram {
 public:
  Threads() {
    for (std::uint64_t t : {1, 2, 3}) writer.event(EventKind::Switch, ThreadNo(t), t, t << 32 | 1);
  }
  EventNo load(ThreadNo t, std::uint64_t offset, StackId where = 0, unsigned len = 8) {
    return writer.event(EventKind::Load, t, at(offset), 0, len, where);
  }
  void lock(ThreadNo t, std::uint64_t lock = kLock) { writer.event(EventKind::Lock, t, lock); }
  void unlock(ThreadNo t, std::uint64_t lock = kLock) { writer.event(EventKind::Unlock, t, lock); }
  void create(ThreadNo t, std::uint64_t made) { writer.event(EventKind::ThreadCreate, t, 0, made); }
  void join(ThreadNo t, std::uint64_t ended) { writer.event(EventKind::ThreadJoin, t, 0, ended); }
  EventNo write(ThreadNo t, std::uint64_t offset, std::uint64_t value = 1) { return store(t, offset, value, 8); }
  std::vector<SeenEarly> candidates() { return seenEarly(index()); }
};

TEST(SeenEarly, ReadBeforeItIsDurable) {
  Threads p;
  EventNo s = p.write(2, 0);
  EventNo l = p.load(3, 0);
  p.persist(0, 2);
  auto found = p.candidates();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].store, s);
  EXPECT_EQ(found[0].access, l);
  EXPECT_TRUE(found[0].seen);
  EXPECT_FALSE(found[0].replaces);
}

TEST(SeenEarly, ReadLaterOrEarlierInAnotherRunItMayBeInBetween) {
  Threads late;
  late.write(2, 0);
  late.persist(0, 2);
  late.load(3, 0);
  ASSERT_EQ(late.candidates().size(), 1U);
  EXPECT_FALSE(late.candidates()[0].seen);
  Threads early;
  early.load(3, 0);
  early.write(2, 0);
  early.persist(0, 2);
  EXPECT_EQ(early.candidates().size(), 1U);
}

TEST(SeenEarly, NotByTheSameThreadNorOtherBytes) {
  Threads p;
  p.write(2, 0);
  p.load(2, 0);
  p.load(3, 8);
  p.persist(0, 2);
  EXPECT_TRUE(p.candidates().empty());
}

TEST(SeenEarly, NotWhatChangesNothing) {
  Threads p;
  p.write(2, 0, 0);
  p.load(3, 0);
  EXPECT_TRUE(p.candidates().empty());
}

TEST(SeenEarly, ALockUntilItIsDurable) {
  Threads p;
  p.lock(2);
  p.write(2, 0);
  p.persist(0, 2);
  p.unlock(2);
  p.lock(3);
  p.load(3, 0);
  p.unlock(3);
  EXPECT_TRUE(p.candidates().empty());
}

TEST(SeenEarly, ALockThatIsGivenBackTooSoon) {
  Threads p;
  p.lock(2);
  p.write(2, 0);
  p.unlock(2);
  p.persist(0, 2);
  p.lock(3);
  p.load(3, 0);
  p.unlock(3);
  EXPECT_EQ(p.candidates().size(), 1U);
}

TEST(SeenEarly, AnotherLock) {
  Threads p;
  p.lock(2);
  p.write(2, 0);
  p.persist(0, 2);
  p.unlock(2);
  p.lock(3, kOther);
  p.load(3, 0);
  p.unlock(3, kOther);
  EXPECT_EQ(p.candidates().size(), 1U);
}

TEST(SeenEarly, ALockTakenTwiceIsHeldUntilItIsGivenBackTwice) {
  Threads p;
  p.lock(2);
  p.lock(2);
  p.write(2, 0);
  p.unlock(2);
  p.persist(0, 2);
  p.unlock(2);
  p.lock(3);
  p.load(3, 0);
  p.unlock(3);
  EXPECT_TRUE(p.candidates().empty());
}

// A lock that two threads have at the same time (a barrier, readers) keeps nobody out.
TEST(SeenEarly, WhatTwoThreadsHaveIsNoLock) {
  Threads p;
  p.lock(2);
  p.lock(3);
  p.write(2, 0);
  p.load(3, 0);
  p.persist(0, 2);
  p.unlock(2);
  p.unlock(3);
  EXPECT_EQ(p.candidates().size(), 1U);
}

TEST(SeenEarly, MadeOrJoinedAfterItWasDurable) {
  Threads p;
  p.write(1, 0);
  p.persist(0, 1);
  p.create(1, 2);
  p.load(2, 0);
  p.write(2, 64);
  p.persist(64, 2);
  p.join(1, 2);
  p.load(1, 64);
  EXPECT_TRUE(p.candidates().empty());
}

TEST(SeenEarly, MadeBeforeItWasDurable) {
  Threads p;
  p.write(1, 0);
  p.create(1, 2);
  p.persist(0, 1);
  p.load(2, 0);
  EXPECT_EQ(p.candidates().size(), 1U);
}

TEST(SeenEarly, ReadBeforeTheWriterWasMade) {
  Threads p;
  p.load(1, 0);
  p.create(1, 2);
  p.write(2, 0);
  p.persist(0, 2);
  EXPECT_TRUE(p.candidates().empty());
}

// sem_post and sem_wait: given by a thread that never took it.
TEST(SeenEarly, GivenWhatTheOtherOneWaitsFor) {
  for (bool inTime : {true, false}) {
    Threads p;
    p.write(2, 0);
    if (inTime) p.persist(0, 2);
    p.unlock(2);
    p.lock(3);
    p.load(3, 0);
    p.persist(0, 2);
    EXPECT_EQ(p.candidates().empty(), inTime);
  }
}

TEST(SeenEarly, MadeDurableByWhoReads) {
  Threads p;
  p.write(2, 0);
  p.persist(0, 3);
  p.load(3, 0);
  EXPECT_TRUE(p.candidates().empty());
}

TEST(SeenEarly, OverwrittenAndCountedByPlaces) {
  Threads p;
  StackId one = p.place(1), two = p.place(2), three = p.place(3, SiteKind::Load);
  for (std::uint64_t offset : {0, 64}) {
    p.storeAt(one, offset, 1, 8, 2);
    p.load(3, offset, three);
    p.storeAt(two, offset, 2, 8, 3);
    p.persist(offset, 3);
  }
  auto found = p.candidates();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_FALSE(found[0].replaces);  // reads first
  EXPECT_EQ(found[0].times, 2U);
  EXPECT_TRUE(found[1].replaces && found[1].seen);
  EXPECT_EQ(found[1].times, 2U);
  EXPECT_TRUE(found[2].replaces && !found[2].seen);  // the other way round
}

}  // namespace
}  // namespace blackout::test
