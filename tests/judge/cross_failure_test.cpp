// Races, semantic bugs and reads of nobody's memory: tiny recorded programs, a recovery as a function.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <atomic>
#include <set>

#include "fake_check.h"
#include "judge/commit_variables.h"
#include "report/sentences.h"

namespace blackout {
namespace {

using test::causeSites;
using test::check;
using test::crashed;
using test::exited;
using test::FakeMemory;
using test::JudgedProgram;
using test::only;
using test::says;

Outcome printed(std::string text) {
  Outcome o;
  o.output = std::move(text);
  return o;
}

std::vector<std::string> kindsOf(const CrashCheck& c) {
  std::vector<std::string> kinds;
  for (const ReplayableFinding& f : c.findings) kinds.emplace_back(nameOf(f.finding.kind));
  return kinds;
}

constexpr std::uint64_t kA = 0, kB = 64, kFlag = 128;
constexpr std::uint64_t kReadA = 101, kReadB = 102, kReadFlag = 103;

Outcome both(FakeMemory& m) {
  std::uint64_t a = m.load(kA, 8, kReadA), b = m.load(kB, 8, kReadB);
  return printed(std::to_string(a) + " " + std::to_string(b));
}

// Two words that are stored, flushed and fenced together.
void storeBoth(JudgedProgram& p, std::uint64_t value) {
  p.storeAt(p.place(1, SiteKind::Store, "Pool.a"), kA, value);
  p.storeAt(p.place(2, SiteKind::Store, "Pool.b"), kB, value);
  p.clwb(1, kA), p.clwb(1, kB), p.sfence(1);
}

// Any mixture of what two threads did may be right: that is said, and not clean where a restart answered with one.
bool saysThreads(const std::vector<std::string>& sentences) {
  return std::any_of(sentences.begin(), sentences.end(), [](const std::string& s) {
    return s.find("while several threads were at work") != std::string::npos;
  });
}

TEST(CrossFailure, AnswersAmidSeveralThreadsAreNotJudged) {
  auto stored = [](JudgedProgram& p, ThreadNo second) {
    p.storeAt(p.place(1), kA, 1, 8, 1);
    p.storeAt(p.place(2), kB, 1, 8, second);
  };
  JudgedProgram threads, one, silent, later;
  stored(threads, 2), stored(one, 1), stored(silent, 2), stored(later, 2);
  CrashCheck c = check(threads, both);
  EXPECT_TRUE(c.findings.empty());
  EXPECT_TRUE(saysThreads(c.incomplete));
  EXPECT_FALSE(saysThreads(check(one, both).incomplete));
  EXPECT_TRUE(check(silent, [](FakeMemory& m) {
                both(m);
                return exited();
              }).incomplete.empty());
  // That a part was judged makes the rest no better.
  for (std::uint64_t offset : {kA, kB}) later.clwb(1, offset), later.clwb(2, offset);
  later.sfence(1), later.sfence(2);
  storeBoth(later, 2);
  EXPECT_TRUE(saysThreads(check(later, both).incomplete));
}

// The same after the last operation: what it promised is lost, and no other is under way.
TEST(CrossFailure, AnEndedOperationThatIsLostIsShownAfterIt) {
  JudgedProgram p;
  p.opBegin(1, "set");
  p.storeAt(p.place(1), kA, 1);
  p.opEnd(1);
  p.storeAt(p.place(2), kB, 1), p.persist(kB);
  CrashCheck c = check(p, both);
  ASSERT_FALSE(c.findings.empty());
  const Finding& f = c.findings.front().finding;
  EXPECT_EQ(f.severity, Severity::Shown);
  EXPECT_TRUE(says(f, "\"set\" had ended before the power failed"));
  EXPECT_TRUE(c.incomplete.empty());
}

// Whether it is said does not depend on which of two threads is faster.
TEST(CrossFailure, ThreadsThatAreThereTogetherCountHoweverTheyTakeTurns) {
  enum class Order { Together, OneByOne, Joined };
  auto run = [](Order order) {
    JudgedProgram p;
    p.storeAt(p.place(9), kFlag, 1), p.persist(kFlag);
    p.event(EventKind::ThreadCreate);
    if (order == Order::Together) p.event(EventKind::ThreadCreate);
    p.writer.event(EventKind::ThreadBegin, 2, 1, 2);
    p.storeAt(p.place(1), kA, 1, 8, 2), p.persist(kA, 2);
    p.writer.event(EventKind::ThreadEnd, 2);
    if (order == Order::Joined) p.storeAt(p.place(9), kFlag, 2), p.persist(kFlag);
    if (order != Order::Together) p.event(EventKind::ThreadCreate);
    p.writer.event(EventKind::ThreadBegin, 3, 1, 3);
    p.storeAt(p.place(2), kB, 1, 8, 3), p.persist(kB, 3);
    p.writer.event(EventKind::ThreadEnd, 3);
    p.storeAt(p.place(9), kFlag, 3), p.persist(kFlag);
    return saysThreads(check(p, both).notes);
  };
  EXPECT_TRUE(run(Order::Together));
  EXPECT_TRUE(run(Order::OneByOne));
  // What the thread that creates them did in between came after the first of them.
  EXPECT_FALSE(run(Order::Joined));
}

// Nothing says when these were created (they are another process's, say): each is there from its first event on.
TEST(CrossFailure, AThreadWhoseCreationWasNotSeenIsThereFromItsFirstEvent) {
  auto run = [](bool again) {
    JudgedProgram p;
    p.storeAt(p.place(1), kA, 1, 8, 1), p.persist(kA, 1);
    p.storeAt(p.place(2), kB, 1, 8, 2), p.persist(kB, 2);
    if (again) p.storeAt(p.place(1), kA, 2, 8, 1), p.persist(kA, 1);
    return saysThreads(check(p, both).notes);
  };
  EXPECT_FALSE(run(false));
  EXPECT_TRUE(run(true));
}

// What an operation stored that had ended must be there, whatever others were doing.
TEST(CrossFailure, AnEndedOperationThatIsLostIsShownAmidOthers) {
  for (bool flushed : {false, true}) {
    JudgedProgram p;
    p.opBegin(2, "slow");
    p.opBegin(1, "set");
    p.storeAt(p.place(1), kA, 1);
    if (flushed) p.persist(kA);
    p.opEnd(1);
    p.storeAt(p.place(2), kB, 1, 8, 2), p.persist(kB, 2);
    p.opEnd(2);
    CrashCheck c = check(p, both);
    EXPECT_TRUE(saysThreads(c.incomplete));
    if (flushed) {
      EXPECT_TRUE(c.findings.empty());
      continue;
    }
    ASSERT_FALSE(c.findings.empty());
    const Finding& f = c.findings.front().finding;
    EXPECT_EQ(nameOf(f.kind), "missing-flush");
    EXPECT_EQ(f.severity, Severity::Shown);
    EXPECT_TRUE(says(f, "\"set\" had ended before the power failed"));
    EXPECT_EQ(causeSites(f).front(), 1U);
  }
}

// An exploration that is ended early is judged where it is complete, and of the rest nothing is said.
TEST(CrossFailure, WhatIsCompleteWhenTheTimeIsUpIsJudged) {
  JudgedProgram p;
  storeBoth(p, 1);
  constexpr std::uint64_t kMany = 1024;
  for (std::uint64_t i = 0; i < 12; ++i) p.storeAt(p.place(10 + i), kMany + 64 * i, 1);
  for (std::uint64_t i = 0; i < 12; ++i) p.clwb(1, kMany + 64 * i);
  p.sfence(1);
  std::atomic<bool> interrupt = false;
  std::uint64_t runs = 0;
  CrashOptions options;
  options.interrupt = &interrupt;
  CrashCheck c = check(
      p,
      [&](FakeMemory& m) {
        if (++runs == 60) interrupt = true;
        Outcome o = both(m);
        for (std::uint64_t i = 0; i < 12; ++i) o.output += " " + std::to_string(m.load(kMany + 64 * i, 8, 200 + i));
        return o;
      },
      options);
  EXPECT_LT(c.exploration.completePoints, c.exploration.points);
  ASSERT_FALSE(c.findings.empty());
  EXPECT_EQ(causeSites(c.findings.front().finding).front(), 1U);
  EXPECT_GT(c.exploration.uncomparedRaces, 0U);
  EXPECT_LT(c.exploration.benignRaces + c.exploration.uncomparedRaces, c.exploration.races);
}

TEST(CrossFailure, WhatWasNotComparedIsNotCalledBenign) {
  JudgedProgram p, q;
  storeBoth(p, 1), storeBoth(q, 1);
  CrashOptions off;
  std::vector<std::string> words{"all", "-cross-failure-race"};
  off.detect = *parseDetectOptions(words);
  CrashCheck c = check(p, both, off);
  EXPECT_EQ(c.exploration.benignRaces, 0U);
  EXPECT_EQ(c.exploration.uncomparedRaces, c.exploration.races);
  c = check(q, [](FakeMemory& m) { return both(m), exited(); });
  EXPECT_EQ(c.exploration.benignRaces, c.exploration.races);
}

// --- answers in several lines ---

// Entries that were published, a line each; `count` says how many there are.
Outcome entries(FakeMemory& m) {
  std::uint64_t count = m.load(kFlag, 8, kReadFlag);
  std::string text;
  for (std::uint64_t i = 0; i < count; ++i) text += "entry " + std::to_string(m.load(i * 64, 8, kReadA + i)) + "\n";
  return printed(text);
}

struct Entries : JudgedProgram {
  // The second entry is published before it is durable.
  explicit Entries(bool marked) {
    for (std::uint64_t i = 0; i < 2; ++i) {
      if (marked) opBegin(1, "append");
      storeAt(place(1), i * 64, 100 * (i + 1));
      if (i == 0) clwb(1, i * 64), sfence(1);
      storeAt(place(2), kFlag, i + 1);
      clwb(1, kFlag), sfence(1);
      if (i == 1) clwb(1, i * 64), sfence(1);
      if (marked) opEnd(1);
    }
  }
};

TEST(CrossFailure, AnEntryThatNoRightAnswerHasIsWrong) {
  for (bool marked : {true, false}) {
    Entries p(marked);
    CrashCheck c = check(p, [](FakeMemory& m) {
      Outcome o = entries(m);
      m.stored = true;
      return o;
    });
    ASSERT_EQ(c.findings.size(), 1U) << marked;
    const Finding& f = c.findings.front().finding;
    EXPECT_EQ(f.severity, marked ? Severity::Shown : Severity::Suspected);
    EXPECT_TRUE(says(f, "Its line 2, \"entry 0\", is in neither."));
    EXPECT_FALSE(says(f, "Run once more"));
  }
}

// A recovery says in words what it did, in every way of which the right answers know nothing.
TEST(CrossFailure, WordsOfRecoveryAreNoDifference) {
  for (const char* words : {"rolled back\n", "replayed record 1\n", "restored \"key\" to 7\n"})
    for (bool marked : {true, false}) {
      JudgedProgram p;
      for (std::uint64_t v = 1; v <= 2; ++v) {
        if (marked) p.opBegin(1, "set");
        p.storeAt(p.place(1), kB, v - 1), p.persist(kB);
        p.storeAt(p.place(2), kFlag, 1), p.persist(kFlag);
        p.storeAt(p.place(3), kA, v), p.persist(kA);
        p.storeAt(p.place(4), kFlag, 0), p.persist(kFlag);
        if (marked) p.opEnd(1);
      }
      CrashCheck c = check(p, [words](FakeMemory& m) {
        bool dirty = m.load(kFlag, 8, kReadFlag) != 0;
        m.stored = dirty;
        std::uint64_t value = dirty ? m.load(kB, 8, kReadB) : m.load(kA, 8, kReadA);
        return printed((dirty ? words : "") + std::to_string(value) + "\n");
      });
      EXPECT_TRUE(c.findings.empty()) << words << marked;
    }
}

// An index that notices the crash and has lost everything: it says so, exits with 0, and is wrong.
TEST(CrossFailure, WhatATestLeadsToIsJudged) {
  for (bool marked : {true, false}) {
    JudgedProgram p;
    p.storeAt(p.place(1), kA, 1), p.persist(kA);
    if (marked) p.opBegin(1, "put");
    p.storeAt(p.place(2), kFlag, 1);
    p.storeAt(p.place(3), kB, 2);
    p.clwb(1, kFlag), p.clwb(1, kB), p.sfence(1);
    p.storeAt(p.place(4), kFlag, 0), p.persist(kFlag);
    if (marked) p.opEnd(1);
    CrashCheck c = check(p, [](FakeMemory& m) {
      if (m.load(kFlag, 8, kReadFlag) != 0) return printed("crash occurred\n");
      std::string text = "key " + std::to_string(m.load(kA, 8, kReadA)) + "\n";
      if (std::uint64_t b = m.load(kB, 8, kReadB); b != 0) text += "key " + std::to_string(b) + "\n";
      return printed(text);
    });
    ASSERT_FALSE(c.findings.empty()) << marked;
    EXPECT_EQ(c.findings.front().finding.severity, marked ? Severity::Shown : Severity::Suspected);
  }
}

TEST(CrossFailure, HalfOfAStretchIsSuspected) {
  JudgedProgram p;
  storeBoth(p, 1);
  CrashCheck c = check(p, both);
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "cross-failure-race");
  EXPECT_EQ(f.severity, Severity::Suspected);
  EXPECT_EQ(f.bugClass, BugClass::Race);
  ASSERT_TRUE(f.crashState);
  EXPECT_TRUE(says(f,
                   "if the power fails with nothing durable that was stored since the last ordering point it prints "
                   "\"0 0\", if it fails with all of it durable it prints \"1 1\""));
  // What is suspected has a hint as well only if it was tried.
  EXPECT_EQ(hintOf(f).empty(), std::none_of(f.evidence.begin(), f.evidence.end(),
                                            [](const Fact& fact) { return std::holds_alternative<TriedCure>(fact); }));
  EXPECT_NE(hintOf(f), "");
}

TEST(CrossFailure, OneStoreThatSwitchesIsNoFinding) {
  JudgedProgram p;
  for (std::uint64_t v = 1; v <= 3; ++v) p.storeAt(p.place(1), kA, v), p.persist(kA);
  EXPECT_TRUE(check(p, both).findings.empty());
}

TEST(CrossFailure, ARaceWithoutConsequenceIsNoFinding) {
  JudgedProgram p;
  storeBoth(p, 1);
  CrashCheck c = check(p, [](FakeMemory& m) {
    both(m);
    return exited();
  });
  EXPECT_TRUE(c.findings.empty());
  EXPECT_EQ(c.exploration.failing, 0U);
}

TEST(CrossFailure, OnlyOneOfThreeValuesIsHarmful) {
  JudgedProgram p;
  p.storeAt(p.place(1), kA, 1);
  p.storeAt(p.place(2), kA, 2);
  p.persist(kA);
  CrashCheck c = check(p, [](FakeMemory& m) { return m.load(kA, 8, kReadA) == 1 ? crashed() : exited(); });
  const Finding& f = only(c);
  EXPECT_EQ(f.severity, Severity::Shown);
  EXPECT_EQ(f.bugClass, BugClass::Race);
  EXPECT_EQ(c.exploration.failing, 1U);
}

// What is at fault in a failure is not told again as a race.
TEST(CrossFailure, WhatWasShownIsNotSuspectedToo) {
  JudgedProgram p;
  storeBoth(p, 1);
  CrashCheck c = check(p, [](FakeMemory& m) {
    std::uint64_t a = m.load(kA, 8, kReadA), b = m.load(kB, 8, kReadB);
    return a < b ? crashed() : printed(std::to_string(a) + std::to_string(b));
  });
  for (const ReplayableFinding& f : c.findings) EXPECT_NE(nameOf(f.finding.kind), "cross-failure-race");
  EXPECT_FALSE(c.findings.empty());
}

// With parts left out on purpose the crash before is none to compare with: what is sure to be durable is an answer too.
TEST(CrossFailure, WhatWasStoredWhereNoCrashIsWantedIsAnAnswer) {
  JudgedProgram p;
  p.storeAt(p.place(1), kA, 1), p.persist(kA);
  p.event(EventKind::SkipPointsBegin);
  p.storeAt(p.place(2), kB, 1), p.persist(kB);
  p.event(EventKind::SkipPointsEnd);
  p.storeAt(p.place(3), kA, 2), p.persist(kA);
  EXPECT_TRUE(check(p, both).findings.empty());
}

TEST(CrossFailure, AnOperationSaysWhatIsRight) {
  JudgedProgram p;
  // Three stretches in one operation: what lies between them is as wrong as what lies inside one.
  p.opBegin(1, "move");
  p.storeAt(p.place(1), kA, 1), p.persist(kA);
  p.storeAt(p.place(2), kB, 1), p.persist(kB);
  p.opEnd(1);
  CrashCheck c = check(p, both);
  ASSERT_FALSE(c.findings.empty());
  // In code that nobody has analysed too.
  EXPECT_EQ(c.findings.front().finding.severity, Severity::Shown);
  EXPECT_EQ(c.findings.front().finding.operation, "move");
  EXPECT_TRUE(says(c.findings.front().finding,
                   "before \"move\" it prints \"0 0\", if it fails after \"move\" it prints \"1 1\""));
}

TEST(CrossFailure, ATransactionIsAnOperation) {
  JudgedProgram p;
  p.writer.event(EventKind::TxBegin, 1, 0, 0, 0);
  p.storeAt(p.place(1), kA, 1), p.persist(kA);
  p.storeAt(p.place(2), kB, 1), p.persist(kB);
  p.writer.event(EventKind::TxEnd, 1, 0, 0, 0);
  CrashCheck c = check(p, both);
  ASSERT_FALSE(c.findings.empty());
  EXPECT_TRUE(says(c.findings.front().finding, "\"the transaction\""));
}

// Stores between the end of an operation and the next point belong to nobody: they are taken away again.
TEST(CrossFailure, WhatFollowsAnOperationIsNoPartOfIt) {
  JudgedProgram p;
  p.opBegin(1, "set");
  p.storeAt(p.place(1), kA, 1), p.persist(kA);
  p.opEnd(1);
  p.storeAt(p.place(2), kB, 9), p.persist(kB);
  EXPECT_TRUE(check(p, both).findings.empty());
}

TEST(CrossFailure, NoRunIsMadeForARace) {
  JudgedProgram silent, telling;
  storeBoth(silent, 1), storeBoth(telling, 1);
  std::uint64_t plain = 0, judged = 0;
  check(silent, [](FakeMemory& m) { return both(m), exited(); }, {}, std::nullopt, "", &plain);
  CrashOptions options;
  check(telling, both, options, std::nullopt, "", &judged);
  // One more to show it, with its places.
  EXPECT_LE(judged, plain + 8);
  EXPECT_EQ(check(silent, both).exploration.runs,
            check(telling, [](FakeMemory& m) { return both(m), exited(); }).exploration.runs);
}

TEST(CrossFailure, IgnoredBytesDoNotRace) {
  JudgedProgram p;
  p.writer.event(EventKind::Ignore, 1, p.at(kA), 8, 0);
  p.writer.event(EventKind::Ignore, 1, p.at(kB), 8, 0);
  storeBoth(p, 1);
  EXPECT_TRUE(check(p, both).findings.empty());
}

// Given up, stored again, and it matters again.
TEST(CrossFailure, WhatWasStoredAfterItWasGivenUpRaces) {
  JudgedProgram p;
  p.writer.event(EventKind::Discard, 1, p.at(kA), 8, 0);
  storeBoth(p, 1);
  EXPECT_EQ(kindsOf(check(p, both)), std::vector<std::string>{"cross-failure-race"});
}

// Any mixture of what two threads do at the same time is right.
TEST(CrossFailure, OperationsThatOverlapSayNothing) {
  for (bool marked : {true, false}) {
    JudgedProgram p;
    if (marked) p.opBegin(1, "a"), p.opBegin(2, "b");
    p.storeAt(p.place(1), kA, 1);
    p.store(2, kB, 1, 8);
    p.clwb(1, kA), p.sfence(1);
    p.clwb(2, kB), p.sfence(2);
    if (marked) p.opEnd(1), p.opEnd(2);
    EXPECT_TRUE(check(p, both).findings.empty()) << marked;
  }
}

// A session of three operations is judged by each of them.
TEST(CrossFailure, TheInnermostOperationCounts) {
  JudgedProgram p;
  p.opBegin(1, "session");
  for (std::uint64_t v = 1; v <= 3; ++v) {
    p.opBegin(1, "set");
    p.storeAt(p.place(1), kA, v), p.persist(kA);
    p.opEnd(1);
  }
  p.opEnd(1);
  EXPECT_TRUE(check(p, both).findings.empty());
}

TEST(CrossFailure, ATransactionMayEndInAnotherThread) {
  JudgedProgram p;
  p.writer.event(EventKind::TxBegin, 1, 3);
  p.writer.event(EventKind::TxEnd, 2, 3);
  p.writer.event(EventKind::TxBegin, 1, 5);
  p.storeAt(p.place(1), kA, 1), p.persist(kA);
  p.storeAt(p.place(2), kB, 1), p.persist(kB);
  p.writer.event(EventKind::TxEnd, 1, 5);
  CrashCheck c = check(p, both);
  ASSERT_FALSE(c.findings.empty());
  EXPECT_TRUE(says(c.findings.front().finding, "\"the transaction\""));
}

// Registered, a variable is read whatever a crash left of it.
TEST(CrossFailure, ARegisteredVariableDoesNotRace) {
  JudgedProgram p;
  for (std::uint64_t offset : {kA, kB}) {
    p.writer.event(EventKind::CommitVar, 1, p.at(offset), 8, 0);
    std::string range(16, '\0');
    std::uint64_t size = 8;
    PmAddr variable = p.at(offset);
    std::memcpy(range.data(), &size, 8), std::memcpy(range.data() + 8, &variable, 8);
    p.writer.blob(EventKind::CommitRange, 1, p.at(1024 + offset), range);
  }
  storeBoth(p, 1);
  EXPECT_TRUE(check(p, both).findings.empty());
}

// --- figure 11 ---

struct Backup : JudgedProgram {
  static constexpr std::uint64_t kBackup = 0, kValid = 64, kArr = 192;
  std::uint64_t valid;
  // `line`: where valid is.
  explicit Backup(std::uint64_t line = kValid) : valid(line) {
    writer.event(EventKind::CommitVar, 1, at(valid), 8, 0);
    storeAt(place(1), kBackup, 7);  // line 1
    storeAt(place(2), valid, 1);    // line 2
    clwb(1, kBackup);               // line 3
    if (valid / 64 != kBackup / 64) clwb(1, valid);
    first = writer.event(EventKind::Sfence, 1, 0, 0, 0);  // F1 is before it; line 4
    storeAt(place(5), kArr, 8);                           // line 5
    clwb(1, kArr);
    second = writer.event(EventKind::Sfence, 1, 0, 0, 0);  // F2
  }
  CrashCheck at11() {
    std::uint64_t v = valid;
    return check(*this, [v](FakeMemory& m) {
      if (m.load(v, 8, 6) == 0) return exited();  // line 6
      m.load(kBackup, 8, 7);                      // line 7
      return exited();
    });
  }
  EventNo first, second;
};

TEST(Figure11, BackupIsUncommittedAtTheFirstFailure) {
  Backup p;
  CrashCheck c = p.at11();
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "uncommitted-read");
  EXPECT_EQ(f.bugClass, BugClass::Semantic);
  EXPECT_EQ(causeSites(f), (std::vector<std::uint64_t>{1, 2}));
  ASSERT_TRUE(f.crashState);
  EXPECT_EQ(f.crashState->front().at, p.first);
  // And after the fence, at the second failure, it still is: it was not sure to be durable when valid was set.
  EXPECT_TRUE(says(f, "at 2 points")) << evidenceOf(f).front();
}

// The backup that is at fault in a failure is not told again where it is there and still uncommitted.
TEST(Figure11, WhatWasShownIsNotABadReadToo) {
  Backup p;
  CrashCheck c = check(p, [](FakeMemory& m) {
    if (m.load(Backup::kValid, 8, 6) == 0) return exited();
    return m.load(Backup::kBackup, 8, 7) == 7 ? exited() : crashed();
  });
  const Finding& f = only(c);
  EXPECT_EQ(f.severity, Severity::Shown);
  EXPECT_EQ(causeSites(f), (std::vector<std::uint64_t>{1, 2}));
}

TEST(Figure11, OneLineKeepsTheirOrder) { EXPECT_TRUE(Backup(8).at11().findings.empty()); }

TEST(CommitVariables, OverlapsAndStrangersAreErrors) {
  auto payload = [](std::uint64_t size, PmAddr variable) {
    std::string s(16, '\0');
    std::memcpy(s.data(), &size, 8), std::memcpy(s.data() + 8, &variable, 8);
    return s;
  };
  auto errorOf = [&](auto make) {
    JudgedProgram p;
    p.store(1, 0, 1);
    make(p);
    auto v = commitVariables(p.index().trace(), [](EventNo) { return std::string(); });
    return v ? std::string() : v.error().sentence;
  };
  auto variable = [](JudgedProgram& p, std::uint64_t offset) {
    p.writer.event(EventKind::CommitVar, 1, p.at(offset), 8, 0);
  };
  auto range = [&](JudgedProgram& p, std::uint64_t of, std::uint64_t offset, std::uint64_t size) {
    p.writer.blob(EventKind::CommitRange, 1, p.at(offset), payload(size, p.at(of)));
  };
  EXPECT_EQ(
      errorOf([&](JudgedProgram& p) { variable(p, 0), range(p, 0, 64, 8), range(p, 0, 64, 8), range(p, 0, 72, 8); }),
      "");
  EXPECT_NE(errorOf([&](JudgedProgram& p) {
              variable(p, 0), variable(p, 8), range(p, 0, 64, 16), range(p, 8, 72, 8);
            }).find("overlaps"),
            std::string::npos);
  EXPECT_NE(errorOf([&](JudgedProgram& p) { variable(p, 0), variable(p, 4); }).find("overlaps another one"),
            std::string::npos);
  EXPECT_NE(errorOf([&](JudgedProgram& p) { range(p, 0, 64, 8); }).find("has not registered"), std::string::npos);
  EXPECT_NE(
      errorOf([&](JudgedProgram& p) { variable(p, 0), variable(p, 8), range(p, 0, 64, 8); }).find("needs a range"),
      std::string::npos);
}

// Figure 10: consistent between two commits; stale once the variable was set twice without the data.
struct Committed : JudgedProgram {
  Committed() {
    writer.event(EventKind::CommitVar, 1, at(kFlag), 8, 0);
    std::string range(16, '\0');
    std::uint64_t size = 8;
    PmAddr variable = at(kFlag);
    std::memcpy(range.data(), &size, 8), std::memcpy(range.data() + 8, &variable, 8);
    writer.blob(EventKind::CommitRange, 1, at(kA), range);
    storeAt(place(1), kA, 1), persist(kA);
    storeAt(place(2), kFlag, 1), persist(kFlag);
  }
  CrashCheck restarted() {
    return check(*this, [](FakeMemory& m) {
      if (m.load(kFlag, 8, kReadFlag) != 0) m.load(kA, 8, kReadA);
      m.load(kB, 8, kReadB);  // not covered
      return exited();
    });
  }
};

TEST(CommitVariables, DataOfTheLastCommitIsConsistent) { EXPECT_TRUE(Committed().restarted().findings.empty()); }

TEST(CommitVariables, DataOfAnOlderVersionIsStale) {
  Committed p;
  p.storeAt(p.place(3), kB, 5), p.persist(kB);
  p.storeAt(p.place(4), kFlag, 2), p.persist(kFlag);
  p.storeAt(p.place(5), kFlag, 3), p.persist(kFlag);
  CrashCheck c = p.restarted();
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "stale-read");
  EXPECT_EQ(causeSites(f), (std::vector<std::uint64_t>{1, 4, 2}));
}

TEST(CommitVariables, MayLieInTwoLines) {
  JudgedProgram p;
  constexpr std::uint64_t kWide = 128 + 48;  // 32 bytes, half of them in the next line
  p.writer.event(EventKind::CommitVar, 1, p.at(kWide), 32, 0);
  p.storeAt(p.place(1), kA, 1), p.persist(kA);
  p.storeAt(p.place(2), kWide + 24, 1), p.persist(kWide + 24);
  auto restart = [](FakeMemory& m) {
    if (m.load(kWide + 24, 8, kReadFlag) != 0) m.load(kA, 8, kReadA);
    return exited();
  };
  EXPECT_TRUE(check(p, restart).findings.empty());
}

TEST(CommitVariables, SetUpBeforeTheFirstCommitIsNotMeant) {
  JudgedProgram p;
  p.writer.event(EventKind::CommitVar, 1, p.at(kFlag), 8, 0);
  p.storeAt(p.place(1), kA, 1), p.persist(kA);
  EXPECT_TRUE(check(p, [](FakeMemory& m) { return m.load(kA, 8, kReadA), exited(); }).findings.empty());
}

// What was cleaned, or declared to count as it is, is not undefined.
TEST(Uninitialized, NeitherCleanNorDefined) {
  for (unsigned last : {BLACKOUT_DISCARD_CLEAN, BLACKOUT_DISCARD_DEFINED}) {
    JudgedProgram p;
    p.storeAt(p.place(1), kA, 5), p.persist(kA);
    if (last == BLACKOUT_DISCARD_DEFINED) p.writer.event(EventKind::Discard, 1, p.at(kA), 8, 0);
    p.writer.event(EventKind::Discard, 1, p.at(kA), 8, last);
    p.storeAt(p.place(2), kFlag, 1), p.persist(kFlag);
    CrashCheck c = check(p, [](FakeMemory& m) {
      return m.load(kFlag, 8, kReadFlag) == 0 ? exited() : printed(std::to_string(m.load(kA, 8, kReadA)));
    });
    EXPECT_TRUE(c.findings.empty()) << last;
  }
}

TEST(Uninitialized, AllocatedAndNeverWrittenIsItsOwnKind) {
  JudgedProgram p;
  p.writer.event(EventKind::Discard, 1, p.at(kA), 16, 0);
  p.storeAt(p.place(1), kA, 5), p.persist(kA);
  p.storeAt(p.place(2), kFlag, 1), p.persist(kFlag);
  p.storeAt(p.place(3), kA + 8, 1), p.persist(kA);
  auto restart = [](FakeMemory& m) {
    return m.load(kFlag, 8, kReadFlag) == 0 ? exited() : printed(std::to_string(m.load(kA + 8, 8, kReadA)));
  };
  CrashCheck c = check(p, restart);
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "uninitialized-read");
  EXPECT_EQ(f.severity, Severity::Suspected);
  // Read, and of no consequence.
  EXPECT_TRUE(check(p, [&](FakeMemory& m) { return restart(m), exited(); }).findings.empty());
}

// --- what races, by brute force ---

// A recovery that reads some words, in an order that depends on nothing: a read races at a point if two versions of its
// line that agree in what was read of it before differ in these bytes.
TEST(CrossFailure, RacedReadsAreThoseOfBruteForce) {
  rc::check([] {
    JudgedProgram p;
    for (int n = *rc::gen::inRange(1, 14); n > 0; --n) {
      std::uint64_t offset = 8 * static_cast<std::uint64_t>(*rc::gen::inRange(0, 16));
      switch (*rc::gen::inRange(0, 4)) {
        case 0:
        case 1:
          p.store(1, offset, static_cast<std::uint64_t>(*rc::gen::inRange(0, 3)));
          break;
        case 2:
          p.clwb(1, offset);
          break;
        default:
          p.sfence(1);
      }
    }
    std::vector<std::uint64_t> reads;
    for (int n = *rc::gen::inRange(1, 6); n > 0; --n)
      reads.push_back(8 * static_cast<std::uint64_t>(*rc::gen::inRange(0, 16)));
    const Index& index = p.index();
    TrackedBytes tracked = TrackedBytes::of(index);
    Baseline baseline(index, tracked, index.points(PointsMode::Enough));
    test::FakeRunner runner(baseline, [&](FakeMemory& m) {
      for (std::size_t i = 0; i < reads.size(); ++i) m.load(reads[i], 8, 1000 + i);
      return exited();
    });
    auto explored = Explorer::explore(tracked, baseline, runner, {});
    RC_ASSERT(explored.has_value());
    const Explorer& explorer = **explored;
    std::set<std::pair<std::uint64_t, SpaceNo>> found;  // site, first space
    for (const RacedRead& r : explorer.summary().races) found.emplace(r.site, r.space);

    std::set<std::pair<std::uint64_t, SpaceNo>> expected;
    for (std::size_t i = 0; i < reads.size(); ++i) {
      for (PointNo o : idRange<PointNo>(baseline.count())) {
        LineNo line = lineOf(p.at(reads[i]));
        std::map<std::vector<LineBytes>, std::set<std::vector<std::byte>>> byEarlier;
        bool seen = false;
        for (const LineVersion& v : index.versionsOf(line, baseline.point(o)).versions) {
          LineBytes earlier{};
          for (std::size_t k = 0; k < i; ++k)
            if (lineOf(p.at(reads[k])) == line) {
              seen |= reads[k] == reads[i];
              std::memcpy(earlier.data() + reads[k] % 64, v.bytes.data() + reads[k] % 64, 8);
            }
          const std::byte* at = v.bytes.data() + reads[i] % 64;
          byEarlier[{earlier}].emplace(at, at + 8);
        }
        bool races = std::any_of(byEarlier.begin(), byEarlier.end(), [](const auto& g) { return g.second.size() > 1; });
        if (races && !seen) {
          expected.emplace(1000 + i, SpaceNo(o.value()));
          break;
        }
      }
    }
    RC_ASSERT(found == expected);
  });
}

}  // namespace
}  // namespace blackout
