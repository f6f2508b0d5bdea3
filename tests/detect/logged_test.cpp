// Ranges that a transaction logs twice, or logs and does not write, stores that it has not logged, transactions that do
// not end, and what only looks like it; what wasted work costs.
#include <rapidcheck.h>

#include <map>

#include "detect/logged_ranges.h"
#include "judged_program.h"

namespace blackout::test {
namespace {

class Transactions : public JudgedProgram {
 public:
  using JudgedProgram::JudgedProgram;

  EventNo begin(std::uint64_t number = 0, ThreadNo t = 1) { return writer.event(EventKind::TxBegin, t, number); }
  EventNo end(std::uint64_t number = 0, ThreadNo t = 1, StackId where = 0) {
    return writer.event(EventKind::TxEnd, t, number, 0, 0, where);
  }
  EventNo add(StackId where, std::uint64_t offset, std::uint64_t size, std::uint64_t number = 0, ThreadNo t = 1) {
    return addOrRemove(EventKind::TxAdd, where, offset, size, number, t);
  }
  EventNo remove(std::uint64_t offset, std::uint64_t size, std::uint64_t number = 0, ThreadNo t = 1) {
    return addOrRemove(EventKind::TxRemove, 0, offset, size, number, t);
  }
  // Stored and made durable, so that no other detector has anything to say.
  void write(std::uint64_t offset, ThreadNo t = 1) {
    store(t, offset, 7);
    persist(offset, t);
  }

 private:
  // The writer gives places to events of one slot only. A payload of 16 bytes takes one slot, which is written here as
  // an event with these bytes.
  EventNo addOrRemove(EventKind kind, StackId where, std::uint64_t offset, std::uint64_t size, std::uint64_t number,
                      ThreadNo t) {
    EventNo n = writer.event(kind, t, at(offset), 16, 0, where);
    writer.event(static_cast<EventKind>(size & 0xff), static_cast<ThreadNo>(size >> 16), number, 0, (size >> 8) & 0xff,
                 static_cast<StackId>(size >> 32));
    return n;
  }
};

void expectCost(JudgedProgram& p, std::string_view detector, Cost cost) {
  auto findings = p.found(detector);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cost, cost);
}

TEST(LoggedTwice, TheSameRangeAgain) {
  Transactions p;
  StackId first = p.place(1);
  StackId second = p.place(2);
  p.begin();
  p.add(first, 0, 64);
  p.add(second, 0, 64);
  p.write(0);
  p.end();
  expectFound(p, "logged-twice", {1, 1});
  expectCost(p, "logged-twice", {64, 128, "logged byte"});
  expectNothing(p, "logged-unused");
  Finding f = p.found("logged-twice")[0];
  EXPECT_EQ(f.severity, Severity::Performance);
  EXPECT_EQ(f.bugClass, BugClass::Performance);
  EXPECT_EQ(f.claim, Claim(LoggedBefore{64}));
  ASSERT_EQ(f.places.size(), 2U);
  EXPECT_EQ(f.places[0].label, "added again here");
  EXPECT_EQ(f.places[0].siteId, 2U);
  EXPECT_EQ(f.places[1].label, "first added here");
  EXPECT_EQ(f.places[1].siteId, 1U);
  ASSERT_EQ(f.examples.size(), 1U);
  EXPECT_EQ(f.examples[0].size, 64U);
}

TEST(LoggedTwice, OnlyTheBytesThatOverlapAreCounted) {
  Transactions p;
  StackId w = p.place(1);
  p.begin();
  p.add(w, 0, 16);
  p.add(w, 32, 16);
  p.add(p.place(2), 8, 32);  // 8 bytes of each, and 16 that are new
  for (std::uint64_t offset : {0, 20, 40}) p.write(offset);
  p.end();
  expectFound(p, "logged-twice", {1, 1});  // one add, though it meets two
  expectCost(p, "logged-twice", {16, 64, "logged byte"});
  EXPECT_EQ(p.found("logged-twice")[0].examples.size(), 2U);
}

TEST(LoggedTwice, InALoopBySite) {
  Transactions p;
  StackId w = p.place(1);
  for (int i = 0; i < 3; ++i) {
    p.begin();
    for (int j = 0; j < 4; ++j) p.add(w, 0, 8);
    p.write(0);
    p.end();
  }
  expectFound(p, "logged-twice", {9, 12});
  expectCost(p, "logged-twice", {72, 96, "logged byte"});
}

TEST(LoggedTwice, AnInnerTransactionIsPartOfTheOuterOne) {
  Transactions p;
  p.begin();
  p.begin();
  p.add(p.place(1), 0, 8);
  p.write(0);
  p.end();
  p.add(p.place(2), 0, 8);
  p.write(0);
  p.end();
  expectFound(p, "logged-twice", {1, 1});
  expectNothing(p, "logged-unused");
}

TEST(LoggedTwice, NotInTheNextTransactionNorInAnotherThreads) {
  Transactions p;
  p.begin();
  p.begin(0, 2);
  p.add(p.place(1), 0, 8);
  p.add(p.place(2), 0, 8, 0, 2);
  p.write(0);
  p.end();
  p.begin();
  p.add(p.place(3), 0, 8);
  p.write(0);
  p.end();
  p.end(0, 2);
  expectNothing(p, "logged-twice");
}

TEST(LoggedTwice, ANumberedTransactionIsOneForAllThreads) {
  Transactions p;
  p.begin(7, 1);
  p.begin(7, 2);
  p.add(p.place(1), 0, 8, 7, 1);
  p.end(7, 1);  // the outermost end is thread 2's
  p.add(p.place(2), 0, 8, 7, 2);
  p.write(0);
  p.end(7, 2);
  expectFound(p, "logged-twice", {1, 1});
}

TEST(LoggedTwice, NotAfterARemoval) {
  Transactions p;
  p.begin();
  p.add(p.place(1), 0, 32);
  p.remove(8, 8);
  p.add(p.place(2), 8, 8);
  p.write(8);
  p.write(0);
  p.end();
  expectNothing(p, "logged-twice");
}

// A removal is over once the transaction has gone on: what is added afterwards is logged again, and stays so.
TEST(LoggedTwice, OfWhatWasAddedAgainAfterItsRemoval) {
  Transactions p;
  p.begin();
  p.add(p.place(1), 0, 32);
  p.remove(8, 8);
  p.add(p.place(2), 8, 8);
  p.add(p.place(3), 8, 8);
  p.write(8);
  p.write(0);
  p.end();
  expectFound(p, "logged-twice", {1, 1});
}

TEST(LoggedTwice, NotOfWhatTransactionsAreToldToIgnore) {
  Transactions p;
  p.begin();
  p.add(p.place(1), 0, 64);
  p.add(p.place(2), 0, 64);
  p.write(60);
  p.end();
  p.range(EventKind::TxIgnore, 1, 0, 48);  // said late, it holds for the whole run
  expectCost(p, "logged-twice", {16, 32, "logged byte"});
  Transactions all;
  all.begin();
  all.add(all.place(1), 0, 64);
  all.add(all.place(2), 0, 64);
  all.end();
  all.range(EventKind::TxIgnore, 1, 0, 40);
  all.range(EventKind::TxIgnore, 1, 32, 40);
  expectNothing(all, "logged-twice");
  expectNothing(all, "logged-unused");
}

TEST(LoggedTwice, NotOutsideAnyTransaction) {
  Transactions p;
  p.add(p.place(1), 0, 8);
  p.add(p.place(2), 0, 8);
  p.end();  // of none
  expectNothing(p, "logged-twice");
  expectNothing(p, "logged-unused");
}

TEST(UnloggedStore, OfWhatTheTransactionDidNotAdd) {
  Transactions p;
  StackId logged = p.place(1), unlogged = p.place(2, SiteKind::Store, "Root.count");
  p.begin();
  p.add(p.place(3), 0, 8);
  p.storeAt(logged, 0, 7);
  p.storeAt(unlogged, 64, 7);
  p.persist(0), p.persist(64);
  p.end();
  expectFound(p, "unlogged-store", {1, 1});
  Finding f = p.found("unlogged-store")[0];
  EXPECT_EQ(f.severity, Severity::Suspected);
  ASSERT_EQ(f.places.size(), 2U);
  EXPECT_EQ(f.places[0].siteId, 2U);
  EXPECT_TRUE(f.places[1].incidental);
  const auto* claim = std::get_if<NotLogged>(&f.claim);
  ASSERT_NE(claim, nullptr);
  EXPECT_EQ(claim->bytes, 8U);
  EXPECT_EQ(claim->added, PlaceNo(0));
}

TEST(UnloggedStore, OfWhatItAddsTooLate) {
  Transactions p;
  p.begin();
  p.storeAt(p.place(1), 0, 7);
  p.add(p.place(2), 0, 8);
  p.storeAt(p.place(3), 0, 8);
  p.persist(0);
  p.end();
  expectFound(p, "unlogged-store", {1, 1});
  Finding f = p.found("unlogged-store")[0];
  ASSERT_EQ(f.places.size(), 3U);
  EXPECT_EQ(f.places[0].siteId, 1U);
  EXPECT_EQ(f.places[1].label, "added too late here");
  EXPECT_EQ(f.places[1].siteId, 2U);
  EXPECT_EQ(std::get<NotLogged>(f.claim).added, PlaceNo(2));
}

TEST(UnloggedStore, OnlyTheBytesThatAreNotLogged) {
  Transactions p;
  p.begin();
  p.add(p.place(1), 4, 8);
  p.storeAt(p.place(2), 0, ~std::uint64_t{0});
  p.persist(0);
  p.end();
  expectFound(p, "unlogged-store", {1, 1});
  EXPECT_EQ(std::get<NotLogged>(p.found("unlogged-store")[0].claim).bytes, 4U);
}

// Outside of it, by another thread, of what no transaction minds, of what changes nothing, of what its outer one
// logged, and where nobody says what is logged.
TEST(UnloggedStore, NotOfOtherStores) {
  Transactions p;
  p.storeAt(p.place(1), 0, 7);
  p.begin();
  p.add(p.place(2), 0, 8);
  p.storeAt(p.place(3), 64, 7, 8, 2);
  p.storeAt(p.place(4), 128, 7);
  p.storeAt(p.place(5), 192, 0);
  p.begin();
  p.storeAt(p.place(6), 0, 8);
  p.end();
  p.end();
  p.storeAt(p.place(7), 256, 7);
  p.range(EventKind::TxIgnore, 1, 128, 8);
  expectNothing(p, "unlogged-store");
  Transactions silent;
  silent.begin();
  silent.storeAt(silent.place(1), 0, 7);
  silent.end();
  expectNothing(silent, "unlogged-store");
}

TEST(UnloggedStore, OfANumberedTransactionByWhoeverBeganIt) {
  Transactions p;
  p.begin(7, 1);
  p.begin(7, 2);
  p.add(p.place(1), 0, 8, 7, 1);
  p.storeAt(p.place(2), 0, 7, 8, 2);   // logged by the other
  p.storeAt(p.place(3), 64, 7, 8, 2);  // by nobody
  p.storeAt(p.place(4), 128, 7, 8, 3);
  p.end(7, 1);
  p.end(7, 2);
  auto findings = p.found("unlogged-store");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].places[0].siteId, 3U);
}

// What a crash has shown is one mistake with it.
TEST(UnloggedStore, IsToldWithWhatShowsIt) {
  Transactions p;
  p.begin();
  p.add(p.place(1), 0, 8);
  p.storeAt(p.place(2), 64, 7);
  p.storeAt(p.place(3), 128, 7);
  p.end();
  std::vector<Finding> findings = p.found("unlogged-store");
  ASSERT_EQ(findings.size(), 2U);
  Finding shown = makeFinding(FindingKind::NotAtomic);
  shown.places = {findings[0].places[0], findings[0].places[0]};
  shown.places[0].siteId = 99;
  shown.shownBy.emplace();
  std::uint64_t site = shown.places[1].siteId;
  findings.push_back(shown);
  joinUnlogged(findings);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_NE(findings[0].places[0].siteId, site);
  EXPECT_EQ(findings[1].evidence, (std::vector<Fact>{NotInTransaction{2, std::nullopt}}));
}

TEST(OpenTransaction, AtTheEnd) {
  Transactions p;
  StackId where = p.place(1);
  for (int i = 0; i < 3; ++i) p.writer.event(EventKind::TxBegin, static_cast<ThreadNo>(i + 1), 0, 0, 0, where);
  p.end(0, 2);
  p.begin(), p.end();  // an inner one
  expectFound(p, "open-transaction", {2, 0});
  Transactions ended;
  ended.begin();
  ended.end();
  expectNothing(ended, "open-transaction");
}

TEST(LoggedUnused, ARangeThatIsNotWritten) {
  Transactions p;
  StackId ends = p.place(9);
  p.begin();
  p.add(p.place(1), 0, 64);
  p.add(p.place(2), 64, 128);
  p.write(0);
  p.end(0, 1, ends);
  expectFound(p, "logged-unused", {1, 1});
  expectCost(p, "logged-unused", {128, 192, "logged byte"});
  Finding f = p.found("logged-unused")[0];
  EXPECT_EQ(f.claim, Claim(LoggedInVain{1, true}));
  ASSERT_EQ(f.places.size(), 2U);
  EXPECT_EQ(f.places[0].siteId, 2U);
  EXPECT_EQ(f.places[1].siteId, 9U);
  EXPECT_EQ(f.evidence, (std::vector<Fact>{TransactionDidWork{}}));
}

TEST(LoggedUnused, NotOneOfWhichAPartIsWritten) {
  Transactions p;
  p.begin();
  p.add(p.place(1), 0, 4096);
  p.write(4095);
  p.end();
  expectNothing(p, "logged-unused");
}

TEST(LoggedUnused, AStoreBeforeTheAddOrAfterTheEndIsNone) {
  Transactions p;
  p.begin();
  p.write(0);
  p.add(p.place(1), 0, 8);
  p.begin();
  p.end();
  p.end();
  p.write(0);
  expectFound(p, "logged-unused", {1, 1});
}

TEST(LoggedUnused, AStoreOfAnyThreadIsOne) {
  Transactions p;
  p.begin(7, 1);
  p.begin(7, 2);
  p.add(p.place(1), 0, 8, 7, 1);
  p.end(7, 1);
  p.write(0, 2);
  p.end(7, 2);
  expectNothing(p, "logged-unused");
}

TEST(LoggedUnused, OnlyTheOutermostEndCounts) {
  Transactions p;
  p.begin();
  p.begin();
  p.add(p.place(1), 0, 8);
  p.end();
  p.write(0);
  p.end();
  expectNothing(p, "logged-unused");
}

// A transaction that is rolled back before it writes looks the same; its site writes in other transactions.
TEST(LoggedUnused, NotOfASiteThatIsWrittenInAnyTransaction) {
  Transactions p;
  StackId w = p.place(1);
  for (int i = 0; i < 5; ++i) {
    p.begin();
    p.add(w, 0, 8);
    if (i == 3) p.write(0);
    p.end();
  }
  expectNothing(p, "logged-unused");
}

// A place that adds all that it passes, of which little is written.
TEST(LoggedUnused, OfAPlaceThatIsSeldomWritten) {
  auto with = [](int writtenTimes) {
    auto p = std::make_unique<Transactions>();
    StackId passes = p->place(1), works = p->place(2);
    for (int i = 0; i < 5; ++i) {
      p->begin();
      p->add(passes, 0, 8);
      p->add(works, 64, 8);
      p->write(64);
      if (i < writtenTimes) p->write(0);
      p->end();
    }
    return p;
  };
  expectFound(*with(2), "logged-unused", {3, 5});
  EXPECT_EQ(with(2)->found("logged-unused")[0].claim, Claim(LoggedInVain{3, false}));
  expectNothing(*with(3), "logged-unused");
}

// libpmemobj takes every range out of a transaction when it commits, before it says that it ends.
TEST(LoggedUnused, RangesThatAreRemovedAtTheEndCount) {
  Transactions p;
  StackId used = p.place(1), unused = p.place(2);
  for (int i = 0; i < 3; ++i) {
    p.begin();
    p.add(used, 0, 8);
    p.add(unused, 64, 8);
    p.write(0);
    p.remove(0, 8);
    p.remove(64, 8);
    p.end();
  }
  expectFound(p, "logged-unused", {3, 3});
}

// ... and it may then add entries of its own lanes before the end.
TEST(LoggedUnused, RangesThatAreRemovedAtACommitCountThoughTheLibraryAddsItsOwn) {
  Transactions p;
  StackId used = p.place(1), unused = p.place(2), lane = p.place(3);
  for (int i = 0; i < 3; ++i) {
    p.begin();
    p.add(used, 0, 8);
    p.add(unused, 64, 8);
    p.write(0);
    p.remove(0, 8);
    p.remove(64, 8);
    p.add(lane, 256, 8);
    p.write(256);
    p.remove(256, 8);
    p.end();
  }
  expectFound(p, "logged-unused", {3, 3});
}

// One that goes on without a range has really given it up.
TEST(LoggedUnused, RangesThatAreRemovedInTheMiddleDoNot) {
  Transactions p;
  StackId used = p.place(1), given = p.place(2);
  p.begin();
  p.add(given, 64, 8);
  p.remove(64, 8);
  p.add(used, 0, 8);
  p.write(0);
  p.end();
  expectNothing(p, "logged-unused");
}

// A library logs at one site for all its callers.
TEST(LoggedUnused, IsJudgedByCallers) {
  Transactions p;
  SiteNo site = p.writer.site(Site{.id = 1, .kind = SiteKind::Store, .size = 0, .sources = {}, .type = ""});
  auto calledFrom = [&](const std::vector<std::uint64_t>& frames) { return p.writer.where(site, frames); };
  StackId writes = calledFrom({0x10, 0x20, 0x30});
  StackId reads = calledFrom({0x10, 0x21, 0x30});
  StackId alsoReads = calledFrom({0x11, 0x20, 0x30});
  for (int i = 0; i < 2; ++i) {
    p.begin();
    p.add(writes, 0, 8);
    p.add(reads, 64, 16);
    p.add(alsoReads, 128, 16);
    p.write(0);
    p.end();
  }
  expectFound(p, "logged-unused", {4, 6});
  expectCost(p, "logged-unused", {64, 80, "logged byte"});
  Finding f = p.found("logged-unused")[0];
  EXPECT_EQ(f.claim, Claim(LoggedInVain{2, true}));
  ASSERT_EQ(f.places.size(), 3U);
  EXPECT_EQ(f.places[0].where, reads);
  EXPECT_EQ(f.places[1].where, alsoReads);
  EXPECT_TRUE(f.places[1].incidental);
  EXPECT_EQ(f.evidence, (std::vector<Fact>{TransactionDidWork{}, OtherCallersWrite{}}));
}

TEST(LoggedUnused, ACallerWhoseTransactionDidNothingIsNotJudged) {
  Transactions p;
  SiteNo site = p.writer.site(Site{.id = 1, .kind = SiteKind::Store, .size = 0, .sources = {}, .type = ""});
  std::vector<std::uint64_t> one = {0x10};
  std::vector<std::uint64_t> other = {0x11};
  StackId writes = p.writer.where(site, one);
  StackId rolledBack = p.writer.where(site, other);
  p.begin();
  p.add(writes, 0, 8);
  p.write(0);
  p.end();
  p.begin();
  p.add(rolledBack, 64, 8);
  p.end();
  expectNothing(p, "logged-unused");
}

TEST(LoggedUnused, SaysInHowManyTransactions) {
  Transactions p;
  StackId w = p.place(1);
  for (std::uint64_t i = 0; i < 3; ++i) {
    p.begin();
    p.add(w, 64 * i, 8);
    p.add(w, 64 * i + 32, 8);
    p.end();
  }
  expectFound(p, "logged-unused", {6, 6});
  expectCost(p, "logged-unused", {48, 48, "logged byte"});
  Finding f = p.found("logged-unused")[0];
  EXPECT_EQ(f.claim, Claim(LoggedInVain{3, true}));
  EXPECT_EQ(f.evidence.at(0), Fact(MayBeRolledBack{}));
}

TEST(LoggedUnused, NotOfATransactionWithoutAnEnd) {
  Transactions p;
  p.begin();
  p.add(p.place(1), 0, 8);
  expectNothing(p, "logged-unused");
}

TEST(LoggedUnused, NotOfWhatWasRemoved) {
  Transactions p;
  p.begin();
  p.add(p.place(1), 0, 64);
  p.remove(0, 64);
  p.add(p.place(2), 128, 64);
  p.remove(120, 40);
  p.add(p.place(3), 256, 8);
  p.write(256);
  p.end();
  auto findings = p.found("logged-unused");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].places[0].siteId, 2U);
  EXPECT_EQ(findings[0].cost, (Cost{32, 136, "logged byte"}));
}

TEST(LoggedUnused, WhatWasLoggedTwiceIsNotCountedTwice) {
  Transactions p;
  p.begin();
  p.add(p.place(1), 0, 64);
  p.add(p.place(2), 0, 64);
  p.end();
  expectFound(p, "logged-unused", {1, 1});
  expectCost(p, "logged-unused", {64, 128, "logged byte"});
  expectCost(p, "logged-twice", {64, 128, "logged byte"});
}

TEST(LoggedUnused, AWholeObjectAddedAfterAPartOfItWasWritten) {
  Transactions p;
  p.begin();
  p.add(p.place(1), 0, 8);
  p.write(0);
  p.add(p.place(2), 0, 64);
  p.end();
  expectNothing(p, "logged-unused");
}

TEST(Logged, OnlyInsideTheRegionOfInterest) {
  Transactions p;
  p.begin();
  p.add(p.place(1), 0, 8);
  p.add(p.place(2), 0, 8);
  p.end();
  p.event(EventKind::RoiBegin);
  p.event(EventKind::RoiEnd);
  expectNothing(p, "logged-twice");
  expectNothing(p, "logged-unused");
}

TEST(Logged, ARangeOfNoBytesIsNothing) {
  JudgedProgram p;
  p.writer.event(EventKind::TxBegin, 1, 0);
  p.writer.blob(EventKind::TxAdd, 1, p.at(0), std::string(16, '\0'));
  p.writer.event(EventKind::TxEnd, 1, 0);
  expectNothing(p, "logged-twice");
  expectNothing(p, "logged-unused");
}

// The same told byte by byte.
TEST(LoggedRanges, AgreeWithBytes) {
  EXPECT_TRUE(rc::check([](const std::vector<std::uint32_t>& genes) {
    constexpr unsigned kBytes = 32;
    Transactions p;
    std::vector<int> owner(kBytes, -1);
    std::vector<bool> written(kBytes);
    std::vector<unsigned> removed;
    std::uint64_t again = 0;
    std::uint64_t bytes = 0;
    std::vector<std::pair<unsigned, unsigned>> ranges;
    std::vector<std::pair<bool, std::uint64_t>> judged;  // of each range: whether it was written, how much was fresh
    auto judge = [&] {
      for (std::size_t i = judged.size(); i < ranges.size(); ++i) {
        auto& [used, fresh] = judged.emplace_back();
        for (unsigned b = ranges[i].first; b < ranges[i].second; ++b) {
          used |= written[b];
          fresh += owner[b] == static_cast<int>(i) ? 1 : 0;
        }
      }
    };
    p.begin();
    for (std::uint32_t gene : genes) {
      unsigned from = (gene >> 2) % kBytes;
      unsigned size = 1 + (gene >> 8) % (kBytes - from);
      // What is removed is given up when the transaction goes on, but for a commit: then what it was is known.
      auto settle = [&] {
        auto isRemoved = [&](unsigned b) { return std::find(removed.begin(), removed.end(), b) != removed.end(); };
        bool all = !removed.empty() && std::find(written.begin(), written.end(), true) != written.end();
        for (unsigned b = 0; b < kBytes; ++b) all &= owner[b] < 0 || isRemoved(b);
        if (all) {
          judge();
          written.assign(kBytes, false);
        }
        for (unsigned b : removed) owner[b] = -1;
        removed.clear();
      };
      switch (gene % 4) {
        case 0:
        case 1:
          settle();
          p.add(0, from, size);
          for (unsigned b = from; b < from + size; ++b)
            if (owner[b] >= 0)
              ++again;
            else
              owner[b] = static_cast<int>(ranges.size());
          ranges.emplace_back(from, from + size);
          bytes += size;
          break;
        case 2:
          p.remove(from, size);
          for (unsigned b = from; b < from + size; ++b) removed.push_back(b);
          break;
        case 3:
          p.store(1, from, 1);
          if (owner[from] >= 0) settle();
          if (owner[from] >= 0) written[from] = true;
          break;
      }
    }
    p.end();
    LoggedRanges logged = loggedRanges(p.trace());
    std::uint64_t found = 0;
    for (const LoggedAgain& a : logged.again) found += a.end - a.begin;
    RC_ASSERT(found == again);
    RC_ASSERT(logged.bytes == bytes);
    RC_ASSERT(logged.ranges.size() == ranges.size());
    judge();
    for (std::size_t i = 0; i < ranges.size(); ++i)
      RC_ASSERT(std::pair(logged.ranges[i].written, logged.ranges[i].fresh) == judged[i]);
  }));
}

TEST(Cost, WastedFlushesAndFencesOfAllInTheRun) {
  JudgedProgram p;
  p.store(1, 0, 1);
  p.persist(0);
  p.flushAt(p.place(1, SiteKind::Clwb), 0);    // again
  p.flushAt(p.place(2, SiteKind::Clwb), 128);  // clean
  p.flushAt(p.place(3), 0, EventKind::FlushOutside);
  p.sfence(1);
  p.fenceAt(p.place(4, SiteKind::Sfence));
  p.fenceAt(p.place(4, SiteKind::Sfence));
  p.event(EventKind::Lfence);
  expectCost(p, "repeated-flush", {1, 4, "flush"});
  expectCost(p, "clean-flush", {1, 4, "flush"});
  expectCost(p, "flush-outside", {1, 4, "flush"});
  expectCost(p, "idle-fence", {2, 4, "fence"});
}

TEST(Cost, OfNothingElse) {
  JudgedProgram p;
  p.store(1, 0, 1);
  auto findings = p.found("never-persisted");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_FALSE(findings[0].cost.has_value());
}

}  // namespace
}  // namespace blackout::test
