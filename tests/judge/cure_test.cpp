// Cures are tried before they are told, kinds follow from the smallest one that works, and what a finding says is true
// of the trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>

#include "fake_check.h"

namespace blackout {
namespace {

using test::broke;
using test::causeSites;
using test::check;
using test::crashed;
using test::exited;
using test::FakeMemory;
using test::FakeRecovery;
using test::follow;
using test::JudgedProgram;
using test::kRoot;
using test::kValue;
using test::only;
using test::says;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> kindsOf(const CrashCheck& c) {
  std::vector<std::string> kinds;
  for (const auto& f : c.findings) kinds.emplace_back(nameOf(f.finding.kind));
  return kinds;
}

// --- hints are tried ---

TEST(Hint, AFlushThatCuresIsHinted) {
  JudgedProgram p;
  p.storeAt(p.place(1), kValue, 5);
  p.storeAt(p.place(2), kRoot, 64);
  p.persist(kRoot);
  const CrashCheck c = check(p, follow);
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "missing-flush");
  EXPECT_TRUE(says(f, "Tried"));
  EXPECT_THAT(hintOf(f), HasSubstr("flush the line of (1)"));
  EXPECT_THAT(hintOf(f), HasSubstr("before (2)"));
}

TEST(Hint, AFenceThatCuresIsHinted) {
  JudgedProgram p;
  p.storeAt(p.place(1), kValue, 5);
  p.flushAt(p.place(3), kValue);
  p.storeAt(p.place(2), kRoot, 64);
  p.persist(kRoot);
  const CrashCheck c = check(p, follow);
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "missing-fence");
  EXPECT_THAT(hintOf(f), HasSubstr("fence"));
  EXPECT_THAT(hintOf(f), Not(HasSubstr("flush the line")));
}

// Two fields of one node are never flushed: one finding, whose states are gone if both are.
TEST(Hint, OneMistakeInTwoPlacesIsCuredInBoth) {
  constexpr std::uint64_t kNext = kValue + 64;
  JudgedProgram p;
  p.storeAt(p.place(1), kValue, 5);
  p.storeAt(p.place(2), kNext, 6);
  p.storeAt(p.place(3), kRoot, 64);
  p.persist(kRoot);
  const CrashCheck c = check(p, [](FakeMemory& m) {
    if (m.load(kRoot) == 0) return exited();
    return m.load(kValue) == 5 && m.load(kNext) == 6 ? exited() : crashed();
  });
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "missing-flush");
  auto tried = std::find_if(f.evidence.begin(), f.evidence.end(),
                            [](const Fact& fact) { return std::holds_alternative<TriedCure>(fact); });
  ASSERT_NE(tried, f.evidence.end());
  EXPECT_EQ(std::get<TriedCure>(*tried).states, 2U) << "without the one, or with it and without the other";
  EXPECT_EQ(std::get<TriedCure>(*tried).gone, 2U);
}

// A restart that fails whatever is lost: nothing cures it.
TEST(Hint, WithoutACureThereIsNone) {
  JudgedProgram p;
  p.storeAt(p.place(1), 0, 1);
  p.persist(0);
  p.storeAt(p.place(2), 64, 1);
  p.persist(64);
  p.storeAt(p.place(3), 0, 2);
  p.persist(0);
  const CrashCheck c = check(p, [](FakeMemory& m) { return m.load(0) == 1 ? broke("one is unlucky") : exited(); });
  const Finding& f = only(c);
  EXPECT_THAT(hintOf(f), Not(HasSubstr("flush")));
}

// What was found to be enough in the simulation is enough in the program: random programs that publish nodes, with and
// without the flushes and fences that their findings ask for.
TEST(Hint, WhatWasTriedCuresTheProgram) {
  constexpr std::uint64_t kNodes = 3;
  auto made = [](std::uint32_t seed, const std::set<std::uint64_t>& cured) {
    std::mt19937 random(seed);
    auto p = std::make_unique<JudgedProgram>();
    for (std::uint64_t i = 0; i < kNodes; ++i) {
      std::uint64_t value = 512 + 64 * i, mistake = random() % 5;
      p->storeAt(p->place(10 + i), value, 5);
      if (cured.contains(10 + i)) p->persist(value);
      if (mistake == 0 || mistake == 1) p->flushAt(p->place(40 + i), value);
      if (mistake == 0 || mistake == 2) p->sfence(1);
      p->storeAt(p->place(20 + i), 64 * i, 1);
      if (random() % 2 == 0) p->persist(64 * i);
      if (mistake == 3) p->persist(value);
    }
    return p;
  };
  auto recovery = [](FakeMemory& m) {
    for (std::uint64_t i = 0; i < kNodes; ++i)
      if (m.load(64 * i) != 0 && m.load(512 + 64 * i) != 5) return crashed(static_cast<int>(7 + i));
    return exited();
  };
  unsigned found = 0;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    const CrashCheck c = check(*made(seed, {}), recovery);
    std::set<std::uint64_t> cured;
    for (const auto& f : c.findings) {
      EXPECT_NE(hintOf(f.finding), "") << "seed " << seed << ": " << verdictOf(f.finding);
      cured.insert(causeSites(f.finding).front());
    }
    found += static_cast<unsigned>(cured.size());
    EXPECT_EQ(cured.size(), c.findings.size()) << "one finding per mistake, seed " << seed;
    EXPECT_TRUE(check(*made(seed, cured), recovery).findings.empty()) << "seed " << seed;
  }
  EXPECT_GT(found, 60U);
}

// --- kinds ---

TEST(Kind, TheSameValueTwiceThenFlushed) {
  JudgedProgram p;
  p.storeAt(p.place(1), kValue, 5);
  p.storeAt(p.place(2), kValue, 5);
  p.flushAt(p.place(3), kValue);
  p.storeAt(p.place(4), kRoot, 64);
  p.persist(kRoot);
  const CrashCheck c = check(p, follow);
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "missing-fence");
  EXPECT_THAT(verdictOf(f), Not(HasSubstr("never flushed")));
  EXPECT_FALSE(says(f, "No flush"));
}

TEST(Kind, ThreeLinesThatBelongTogether) {
  JudgedProgram p;
  for (std::uint64_t i = 0; i < 3; ++i) p.storeAt(p.place(1 + i), 64 * i, 7);
  for (std::uint64_t i = 0; i < 3; ++i) p.clwb(1, 64 * i);
  p.sfence(1);
  const CrashCheck c = check(p, [](FakeMemory& m) {
    std::uint64_t sum = m.load(0) + m.load(64) + m.load(128);
    return sum == 0 || sum == 21 ? exited() : broke("all or none");
  });
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "not-atomic");
  EXPECT_THAT(verdictOf(f), Not(HasSubstr("no fence")));
  EXPECT_THAT(verdictOf(f), Not(HasSubstr("everything persisted")));
  EXPECT_EQ(f.shownBy->states, c.exploration.failing);
  EXPECT_THAT(hintOf(f), HasSubstr("log"));
}

TEST(Kind, ValidBeforeDataInOneLine) {
  for (bool flushed : {true, false}) {
    JudgedProgram p;
    p.storeAt(p.place(1), 0, 1);  // valid
    p.storeAt(p.place(2), 8, 5);  // data
    if (flushed) p.persist(0);
    const CrashCheck c =
        check(p, [](FakeMemory& m) { return m.load(0) == 0 || m.load(8) == 5 ? exited() : crashed(); });
    const Finding& f = only(c);
    EXPECT_EQ(nameOf(f.kind), "wrong-order") << flushed;
    EXPECT_EQ(causeSites(f), (std::vector<std::uint64_t>{2, 1}));
    EXPECT_THAT(verdictOf(f), HasSubstr("comes only after (2)"));
    EXPECT_THAT(hintOf(f), HasSubstr("first"));
  }
}

// One copy over two lines.
TEST(Kind, AStoreTornOverTwoLines) {
  JudgedProgram p;
  std::string bytes(128, '\5');
  p.writer.store(EventKind::Store, 1, p.at(0), bytes, p.place(1));
  p.clwb(1, 0), p.clwb(1, 64), p.sfence(1);
  const CrashCheck c = check(p, [](FakeMemory& m) {
    bool a = m.load(0) != 0, b = m.load(120) != 0;
    return !a || b ? exited() : broke("the record is whole");
  });
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "not-atomic");
  EXPECT_EQ(causeSites(f), (std::vector<std::uint64_t>{1}));
  EXPECT_THAT(verdictOf(f), HasSubstr("2 lines"));
}

// Stored again with the same value, then flushed: too late, not never.
TEST(Kind, TheSameValueAgainAfterWhatReliesOnIt) {
  JudgedProgram p;
  p.storeAt(p.place(1), kValue, 5);
  p.storeAt(p.place(2), kRoot, 64);
  p.storeAt(p.place(3), kValue, 5);
  p.persist(kRoot);
  p.persist(kValue);
  const CrashCheck c = check(p, follow);
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "wrong-order");
  EXPECT_FALSE(says(f, "No flush"));
}

// The old state still leads to what is wiped; the other order would do.
TEST(Kind, SpoiledBeforeItIsLetGo) {
  JudgedProgram p;
  p.storeAt(p.place(1), 64, 5), p.persist(64);
  p.storeAt(p.place(2), 0, 1), p.persist(0);
  p.storeAt(p.place(3), 64, 0), p.persist(64);
  p.storeAt(p.place(4), 0, 2), p.persist(0);
  const CrashCheck c = check(p, [](FakeMemory& m) { return m.load(0) == 1 && m.load(64) != 5 ? crashed() : exited(); });
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "wrong-order");
  EXPECT_EQ(causeSites(f), (std::vector<std::uint64_t>{4, 3}));
  EXPECT_THAT(hintOf(f), HasSubstr("store (1) and make it durable first, then store (2)"));
}

// What says that the pool is there was stored long before, and a crash in between was fine: nothing relies there.
TEST(Kind, WhatLivedWithoutItDoesNotRelyOnIt) {
  JudgedProgram p;
  p.storeAt(p.place(1), 0, 1), p.persist(0);  // magic
  p.storeAt(p.place(9), 256, 1), p.persist(256);
  p.storeAt(p.place(2), 64, 7);
  p.storeAt(p.place(3), 128, 7);
  p.clwb(1, 64), p.clwb(1, 128), p.sfence(1);
  const CrashCheck c = check(p, [](FakeMemory& m) {
    if (m.load(0) == 0) return exited();
    return m.load(64) == m.load(128) ? exited() : broke("the halves are equal");
  });
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "not-atomic");
  EXPECT_EQ(causeSites(f), (std::vector<std::uint64_t>{2, 3}));
}

// --- transactions ---

void add(JudgedProgram& p, std::uint64_t offset, std::uint64_t size) {
  std::string payload(16, '\0');
  std::memcpy(payload.data(), &size, 8);
  p.writer.blob(EventKind::TxAdd, 1, p.at(offset), payload);
}

// Two balances in one transaction, one of which it does not log. `m` at 192 says whether its log counts; the old value
// of the first balance is at 128.
TEST(Hint, ATransactionThatLacksAnAdd) {
  for (bool added : {false, true}) {
    JudgedProgram p;
    p.storeAt(p.place(1), 0, 10);
    p.storeAt(p.place(2), 64, 10);
    p.clwb(1, 0), p.clwb(1, 64), p.sfence(1);
    p.event(EventKind::TxBegin);
    add(p, 0, 8);
    if (added) add(p, 64, 8);
    p.storeAt(p.place(3), 128, 10);
    p.storeAt(p.place(4), 136, 10);
    p.persist(128);
    p.storeAt(p.place(5), 192, added ? 2 : 1), p.persist(192);
    p.storeAt(p.place(6), 0, 7);
    p.storeAt(p.place(7), 64, 13);
    p.clwb(1, 0), p.clwb(1, 64), p.sfence(1);
    p.storeAt(p.place(8), 192, 0), p.persist(192);
    p.event(EventKind::TxEnd);
    const CrashCheck c = check(p, [](FakeMemory& m) {
      std::uint64_t log = m.load(192);
      std::uint64_t a = log >= 1 ? m.load(128) : m.load(0), b = log >= 2 ? m.load(136) : m.load(64);
      return a == 0 || b == 0 || a + b == 20 ? exited() : broke("the sum is right");
    });
    if (added) {
      EXPECT_TRUE(c.findings.empty());
      continue;
    }
    const Finding& f = only(c);
    EXPECT_THAT(hintOf(f), HasSubstr("the transaction had not logged these bytes"));
    EXPECT_EQ(f.bugClass, BugClass::Race);
    EXPECT_EQ(causeSites(f).front(), 7U);
  }
}

// --- one mistake, one finding ---

// A lock that is taken at several places and that a restart does not release.
TEST(Mistakes, ALockIsOne) {
  JudgedProgram p;
  for (std::uint64_t i = 0; i < 3; ++i) {
    p.storeAt(p.place(10 + i), 0, 1), p.persist(0);
    p.storeAt(p.place(20 + i), 64 + 64 * i, 1), p.persist(64 + 64 * i);
    p.storeAt(p.place(30 + i), 0, 0), p.persist(0);
  }
  const CrashCheck c = check(p, [](FakeMemory& m) {
    std::uint64_t sum = m.load(64) + m.load(128) + m.load(192);
    return m.load(0) == 0 ? exited() : exited(static_cast<int>(3 + sum));
  });
  const Finding& f = only(c);
  EXPECT_EQ(f.shownBy->states, c.exploration.failing);
  EXPECT_THAT(verdictOf(f), HasSubstr("does not cope with what (1) stores"));
  EXPECT_EQ(hintOf(f), "") << "nothing of the run cures it";
}

// What was to be made durable apart is a mistake of its own.
TEST(Mistakes, AFenceInBetweenMakesTwo) {
  JudgedProgram p;
  p.storeAt(p.place(1), 256, 5);
  p.sfence(1);
  p.storeAt(p.place(2), 320, 6);
  p.sfence(1);
  p.storeAt(p.place(3), kRoot, 1);
  p.persist(kRoot);
  const CrashCheck c = check(p, [](FakeMemory& m) {
    if (m.load(kRoot) == 0) return exited();
    if (m.load(256) != 5) return crashed(11);
    return m.load(320) == 6 ? exited() : crashed(7);
  });
  EXPECT_EQ(kindsOf(c), (std::vector<std::string>{"missing-flush", "missing-flush"}));
}

TEST(Mistakes, TwoLostPointersThatFailAtTwoPlaces) {
  JudgedProgram p;
  p.storeAt(p.place(1), 256, 5);
  p.storeAt(p.place(2), 1024, 6);
  p.storeAt(p.place(3), kRoot, 1);
  p.persist(kRoot);
  const CrashCheck c = check(p, [](FakeMemory& m) {
    if (m.load(kRoot) == 0) return exited();
    if (m.load(256) != 5) return crashed(11);
    return m.load(1024) == 6 ? exited() : crashed(7);
  });
  EXPECT_EQ(kindsOf(c), (std::vector<std::string>{"missing-flush", "missing-flush"}));
}

TEST(Mistakes, AnEntryOverTwoLinesIsOne) {
  JudgedProgram p;
  p.storeAt(p.place(1), 256, 5);
  p.storeAt(p.place(2), 264, 6);
  p.storeAt(p.place(3), 320, 7);
  p.storeAt(p.place(4), kRoot, 1);
  p.persist(kRoot);
  const CrashCheck c = check(p, [](FakeMemory& m) {
    if (m.load(kRoot) == 0) return exited();
    if (m.load(256) != 5) return broke("first");
    if (m.load(264) != 6) return broke("second");
    return m.load(320) == 7 ? exited() : broke("third");
  });
  EXPECT_EQ(kindsOf(c), (std::vector<std::string>{"missing-flush"}));
  EXPECT_EQ(only(c).shownBy->states, c.exploration.failing);
}

// The lost line has other stores, which nobody reads.
TEST(Mistakes, TheStoreWhoseBytesWereReadIsBlamed) {
  JudgedProgram p;
  p.storeAt(p.place(9), kValue + 32, 1);  // of somebody else, in the same line
  p.storeAt(p.place(1), kValue, 5);
  p.storeAt(p.place(2), kRoot, 64);
  p.persist(kRoot);
  const CrashCheck c = check(p, follow);
  EXPECT_EQ(causeSites(only(c)), (std::vector<std::uint64_t>{1, 2}));
}

// --- sentences ---

TEST(Sentences, AFlushThatComesForAnotherStoreIsSaid) {
  JudgedProgram p;
  p.storeAt(p.place(1), kValue, 5);
  p.storeAt(p.place(2), kRoot, 64);
  p.persist(kRoot);
  p.storeAt(p.place(9), kValue + 8, 1);
  p.persist(kValue);
  const CrashCheck c = check(p, follow);
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "missing-flush");
  EXPECT_THAT(verdictOf(f), Not(HasSubstr("never flushed")));
  EXPECT_THAT(verdictOf(f), HasSubstr("is not flushed before (2)"));
  EXPECT_FALSE(says(f, "No flush of its line follows the store at (1)."));
}

}  // namespace
}  // namespace blackout
