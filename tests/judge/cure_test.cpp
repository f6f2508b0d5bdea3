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

// Two nodes are published by the same lines, without a flush, or without a fence before the root: each needs its own.
TEST(Hint, OneMistakeMadeTwiceIsCuredBothTimes) {
  for (const char* kind : {"missing-flush", "missing-fence"}) {
    JudgedProgram p;
    const auto value = p.place(1), root = p.place(2), flush = p.place(3);
    for (std::uint64_t node : {0U, 1U}) {
      p.storeAt(value, 512 + 64 * node, 5);
      if (kind == std::string("missing-fence")) p.flushAt(flush, 512 + 64 * node);
      p.storeAt(root, 64 * node, 1);
      p.persist(64 * node);
    }
    const CrashCheck c = check(p, [](FakeMemory& m) {
      for (std::uint64_t node : {0U, 1U})
        if (m.load(64 * node) == 1 && m.load(512 + 64 * node) != 5) return crashed();
      return exited();
    });
    const Finding& f = only(c);
    EXPECT_EQ(nameOf(f.kind), kind);
    auto tried = std::find_if(f.evidence.begin(), f.evidence.end(),
                              [](const Fact& fact) { return std::holds_alternative<TriedCure>(fact); });
    ASSERT_NE(tried, f.evidence.end());
    EXPECT_EQ(std::get<TriedCure>(*tried).gone, std::get<TriedCure>(*tried).states) << kind;
  }
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
    ASSERT_EQ(f.fixes.size(), 1U);
    EXPECT_EQ(f.fixes[0].where, Fix::Where::Log);
    EXPECT_EQ(f.fixes[0].ranges, 1U);
    EXPECT_EQ(f.fixes[0].states, c.exploration.failing);
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

// A transaction logs a balance after it has changed it. A crash before that finds it changed and not in the log, a
// crash afterwards in the log with its new value, and restarts fail in two ways.
TEST(Mistakes, BytesThatAreLoggedTooLateAreOne) {
  JudgedProgram p;
  p.storeAt(p.place(1), 0, 10);
  p.storeAt(p.place(2), 64, 10);
  p.clwb(1, 0), p.clwb(1, 64), p.sfence(1);
  p.event(EventKind::TxBegin);
  add(p, 0, 8);
  p.storeAt(p.place(3), 128, 10), p.persist(128);
  p.storeAt(p.place(4), 192, 1), p.persist(192);
  p.storeAt(p.place(5), 0, 7), p.persist(0);
  p.storeAt(p.place(6), 64, 13), p.persist(64);
  add(p, 64, 8);
  p.storeAt(p.place(7), 136, 13), p.persist(136);
  p.storeAt(p.place(8), 192, 2), p.persist(192);
  p.storeAt(p.place(9), 192, 0), p.persist(192);
  p.event(EventKind::TxEnd);
  const CrashCheck c = check(p, [](FakeMemory& m) {
    std::uint64_t log = m.load(192);
    std::uint64_t a = log >= 1 ? m.load(128) : m.load(0), b = log >= 2 ? m.load(136) : m.load(64);
    if (a == 0 || b == 0 || a + b == 20) return exited();
    return broke(log == 2 ? "what is in the log is right" : "the sum is right");
  });
  const Finding& f = only(c);
  EXPECT_EQ(causeSites(f).front(), 6U);
  EXPECT_EQ(f.shownBy->states, c.exploration.failing);
}

// A balance that a transaction had not logged is neither put back by a rollback nor flushed at the commit: one missing
// add. What it had logged and does not flush is another mistake.
TEST(Mistakes, BytesThatAreNeitherPutBackNorFlushedAreOne) {
  for (bool other : {false, true}) {
    JudgedProgram p;
    p.writer.event(EventKind::TxIgnore, 1, p.at(128), 128);  // its log
    p.storeAt(p.place(1), 0, 10);
    p.storeAt(p.place(2), 64, 10);
    p.storeAt(p.place(3), 256, 10);
    p.clwb(1, 0), p.clwb(1, 64), p.clwb(1, 256), p.sfence(1);
    p.event(EventKind::TxBegin);
    add(p, 0, 8), add(p, 256, 8);
    p.storeAt(p.place(4), 128, 10);
    p.storeAt(p.place(5), 136, 10);
    p.persist(128);
    p.storeAt(p.place(6), 192, 1), p.persist(192);
    p.storeAt(p.place(7), 0, 7);
    p.storeAt(p.place(8), 64, 12);
    p.storeAt(p.place(9), 256, 11);
    p.clwb(1, 0);
    if (!other) p.clwb(1, 256);
    p.sfence(1);
    p.storeAt(p.place(10), 192, 0), p.persist(192);
    p.event(EventKind::TxEnd);
    const CrashCheck c = check(p, [](FakeMemory& m) {
      bool log = m.load(192) == 1;
      std::uint64_t a = log ? m.load(128) : m.load(0), b = m.load(64), d = log ? m.load(136) : m.load(256);
      if (a == 0 || b == 0 || d == 0) return exited();
      if ((a == 10) != (d == 10)) return broke("the third goes with the first");
      return a + b + d == 30 ? exited() : broke("the sum is right");
    });
    ASSERT_EQ(c.findings.size(), other ? 2U : 1U);
    const Finding& f = c.findings.front().finding;
    EXPECT_EQ(nameOf(f.kind), "not-atomic");
    EXPECT_EQ(causeSites(f).front(), 8U);
    EXPECT_THAT(verdictOf(f), HasSubstr("had not been logged by its transaction when it was changed"));
    EXPECT_TRUE(
        says(f, "with these bytes as they were before the transaction the restart ends well; with them durable"));
    if (other) {
      EXPECT_EQ(causeSites(c.findings[1].finding).front(), 9U);
      continue;
    }
    EXPECT_EQ(f.shownBy->states, c.exploration.failing);
    ASSERT_EQ(f.fixes.size(), 1U);
    EXPECT_EQ(f.fixes[0].where, Fix::Where::Log);
    EXPECT_EQ(f.fixes[0].states, c.exploration.failing);
  }
}

// A block is taken and then linked; dropped, it is unlinked and then freed. A restart that does not free what nothing
// leads to loses it after a crash in either. One that fails in another way by the second has another mistake there.
TEST(Mistakes, AnUpdateThatIsCutInEitherDirectionIsOne) {
  for (bool same : {true, false}) {
    JudgedProgram p;
    p.storeAt(p.place(1), 0, 1), p.persist(0);
    p.storeAt(p.place(2), 64, 1), p.persist(64);
    p.storeAt(p.place(3), 128, 1), p.persist(128);
    p.storeAt(p.place(4), 64, 0), p.persist(64);
    p.storeAt(p.place(5), 0, 0), p.persist(0);
    const CrashCheck c = check(p, [&](FakeMemory& m) {
      bool taken = m.load(0) == 1, linked = m.load(64) == 1, later = m.load(128) == 1;
      if (linked && !taken) return broke("what is linked is taken");
      if (taken && !linked) return broke(!same && later ? "what is dropped is free" : "no block is lost");
      return exited();
    });
    ASSERT_EQ(c.findings.size(), same ? 1U : 2U);
    const Finding& f = c.findings.front().finding;
    EXPECT_EQ(nameOf(f.kind), "not-atomic");
    EXPECT_EQ(causeSites(f), (std::vector<std::uint64_t>{1, 2}));
    EXPECT_EQ(says(f, "update the same bytes the other way round"), same);
    if (same) EXPECT_EQ(f.shownBy->states, c.exploration.failing);
  }
}

// The same in two transactions, each of which shows another half: in the first a crash before the bytes are logged, in
// the second one after that, when nothing can put them right any more. Restarts answer the same, so it is one.
TEST(Mistakes, BytesThatAreLoggedTooLateAreOneInAnyTransaction) {
  JudgedProgram p;
  p.writer.event(EventKind::TxIgnore, 1, p.at(128), 128);  // its log
  p.storeAt(p.place(1), 0, 10);
  p.storeAt(p.place(2), 64, 10);
  p.clwb(1, 0), p.clwb(1, 64), p.sfence(1);
  for (std::uint64_t number : {1, 2}) {
    p.storeAt(p.place(20), 320, number), p.persist(320);
    p.event(EventKind::TxBegin);
    add(p, 0, 8);
    p.storeAt(p.place(3), 128, 13 - 3 * number), p.persist(128);
    p.storeAt(p.place(4), 192, 1), p.persist(192);
    p.storeAt(p.place(5), 0, 10 - 3 * number), p.persist(0);
    p.storeAt(p.place(6), 64, 10 + 3 * number), p.persist(64);
    add(p, 64, 8);
    p.storeAt(p.place(7), 136, 10 + 3 * number), p.persist(136);
    p.storeAt(p.place(8), 192, 2), p.persist(192);
    p.storeAt(p.place(9), 192, 0), p.persist(192);
    p.event(EventKind::TxEnd);
  }
  const CrashCheck c = check(p, [](FakeMemory& m) {
    std::uint64_t number = m.load(320), log = m.load(192);
    std::uint64_t a = log >= 1 ? m.load(128) : m.load(0), b = log >= 2 ? m.load(136) : m.load(64);
    if (a == 0 || b == 0 || a + b == 20 || (log == 2) != (number == 2)) return exited();
    return broke("the sum is right");
  });
  const Finding& f = only(c);
  EXPECT_EQ(causeSites(f).front(), 6U);
  EXPECT_EQ(f.shownBy->states, c.exploration.failing);
}

// A leaf is emptied before the slot that leads to it leads past it. The second time the slot gets back what it held
// before the leaf was there, as a flag would that is cleared; the mistake is the same.
TEST(Mistakes, SpoiledBeforeItIsLetGoIsOneWhateverTheSlotHeldBefore) {
  constexpr std::uint64_t kEmptied = 10, kPast = 11;
  for (bool backFirst : {false, true}) {
    JudgedProgram p;
    for (std::uint64_t leaf : {1, 2, 3}) p.storeAt(p.place(leaf), 64 * leaf, 5), p.persist(64 * leaf);
    auto put = [&](std::uint64_t leaf) { p.storeAt(p.place(20), 0, leaf), p.persist(0); };
    auto remove = [&](std::uint64_t leaf, std::uint64_t next) {
      p.storeAt(p.place(kEmptied), 64 * leaf, 0), p.persist(64 * leaf);
      p.storeAt(p.place(kPast), 0, next), p.persist(0);
    };
    if (backFirst) {
      put(3), put(1), remove(1, 3);
      put(2), remove(2, 4);
    } else {
      put(1), remove(1, 3);
      put(2), remove(2, 3);
    }
    const CrashCheck c = check(p, [](FakeMemory& m) {
      std::uint64_t leaf = m.load(0);
      return leaf != 0 && leaf < 4 && m.load(64 * leaf) != 5 ? broke("leaf " + std::to_string(leaf)) : exited();
    });
    const Finding& f = only(c);
    EXPECT_EQ(nameOf(f.kind), "wrong-order");
    EXPECT_EQ(causeSites(f), (std::vector<std::uint64_t>{kPast, kEmptied}));
    EXPECT_EQ(f.shownBy->states, c.exploration.failing);
  }
}

// A block that is still in use is filled anew: no single store of it does the harm. Whatever part of them a crash
// keeps, it is the one mistake; and how else restarts fail by it is said.
TEST(Mistakes, ABlockThatIsFilledWhileItIsInUseIsOne) {
  auto made = [](bool alsoLost) {
    auto p = std::make_unique<JudgedProgram>();
    p->storeAt(p->place(1), 64, 5), p->storeAt(p->place(2), 128, 5);
    p->clwb(1, 64), p->clwb(1, 128), p->sfence(1);
    p->storeAt(p->place(3), 0, 5), p->persist(0);
    if (alsoLost) p->storeAt(p->place(8), 256, 1), p->storeAt(p->place(9), 320, 1), p->persist(320);
    p->storeAt(p->place(4), 64, 6), p->storeAt(p->place(5), 128, 6);
    p->clwb(1, 64), p->clwb(1, 128), p->sfence(1);
    p->storeAt(p->place(6), 0, 6), p->persist(0);
    return p;
  };
  auto recovery = [](FakeMemory& m) {
    std::uint64_t generation = m.load(0);
    if (generation == 0) return exited();
    if (m.load(320) == 1 && m.load(256) != 1) return exited(9);
    bool first = m.load(64) == generation, second = m.load(128) == generation;
    return first && second ? exited() : first ? exited(3) : second ? exited(4) : crashed();
  };
  const CrashCheck one = check(*made(false), recovery);
  const Finding& f = only(one);
  EXPECT_EQ(nameOf(f.kind), "not-atomic");
  EXPECT_EQ(f.shownBy->states, one.exploration.failing);
  EXPECT_THAT(causeSites(f), testing::ElementsAre(4, 6));
  EXPECT_TRUE(says(f, "in another way: one exits with 3"));
  EXPECT_TRUE(says(f, "in another way: one exits with 4"));
  EXPECT_FALSE(says(f, "one crashes")) << "that is the finding's own way";
  // What is lost besides is a mistake of its own.
  EXPECT_EQ(check(*made(true), recovery).findings.size(), 2U);
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
