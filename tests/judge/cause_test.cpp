// Causes are named, told apart and grouped: tiny recorded programs, a recovery as a function, and the findings that
// come of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "events/trace.h"
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

enum : std::uint64_t { kInit = 1, kPublish = 2, kFlush = 3, kFence = 4 };

struct Node : JudgedProgram {
  StackId init = place(kInit, SiteKind::Store, "Node.value");
  StackId publish = place(kPublish, SiteKind::Store, "List.root");
  void flush(std::uint64_t offset) { flushAt(place(kFlush), offset); }
  void fence() { fenceAt(place(kFence)); }
};

TEST(Cause, RightOrderIsClean) {
  Node p;
  p.storeAt(p.init, kValue, 5);
  p.flush(kValue), p.fence();
  p.storeAt(p.publish, kRoot, 64);
  p.flush(kRoot), p.fence();
  CrashCheck c = check(p, follow);
  EXPECT_TRUE(c.findings.empty());
  EXPECT_TRUE(c.incomplete.empty());
  EXPECT_EQ(c.exploration.failing, 0U);
  EXPECT_EQ(c.exploration.completePoints, c.exploration.points);
}

// What was not run once more is not proved.
TEST(Cause, WithoutTimeToRepeatItIsSuspected) {
  Node p;
  p.storeAt(p.init, kValue, 5);
  p.storeAt(p.publish, kRoot, 64);
  p.flush(kRoot), p.fence();
  std::atomic<bool> interrupt = false, again = false;
  CrashOptions options;
  options.interrupt = &interrupt;
  options.again = &again;
  CrashCheck c = check(p, follow, options, std::nullopt, "", nullptr, [&](const blackout::Run& run) -> Result<void> {
    if (!run.traced) return {};
    interrupt = again = true;  // of all moments just when it is to be shown once more
    return fail("there is no time");
  });
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "missing-flush");
  EXPECT_EQ(f.severity, Severity::Suspected);
  EXPECT_TRUE(says(f, "There was no time to run the same restart once more"));
  Report report;
  report.findings = {f};
  report.incomplete = c.incomplete;
  EXPECT_EQ(exitCodeOf(report, FailOn::Proved), ExitCode::Inconclusive);
}

TEST(Cause, MissingFlush) {
  Node p;
  p.storeAt(p.init, kValue, 5);
  p.storeAt(p.publish, kRoot, 64);
  p.flush(kRoot), p.fence();
  CrashCheck c = check(p, follow);
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "missing-flush");
  EXPECT_EQ(causeSites(f), (std::vector<std::uint64_t>{kInit, kPublish}));
  EXPECT_EQ(f.severity, Severity::Shown);
  EXPECT_TRUE(says(f, "No flush of its line follows"));
  EXPECT_TRUE(says(f, "as 0; the lost store at (1) had made it 5"));
  EXPECT_NE(verdictOf(f).find("Node.value, stored at (1), is never flushed"), std::string::npos) << verdictOf(f);
  EXPECT_NE(verdictOf(f).find("while List.root, stored at (2), survives"), std::string::npos) << verdictOf(f);
  EXPECT_NE(verdictOf(f).find("crashes with SIGSEGV"), std::string::npos) << verdictOf(f);
  ASSERT_TRUE(f.shownBy);
  EXPECT_EQ(f.shownBy->states, c.exploration.failing);
  EXPECT_EQ(f.shownBy->points, 1U);
}

TEST(Cause, WhatItKnowsIsData) {
  Node p;
  EventNo lost = p.storeAt(p.init, kValue, 5);
  EventNo kept = p.storeAt(p.publish, kRoot, 64);
  p.flush(kRoot);
  p.flush(kValue), p.fence();
  CrashCheck c = check(p, follow);
  const Finding& f = only(c);
  const auto& cause = std::get<CrashCause>(f.claim);
  EXPECT_EQ(cause.kind, f.kind);
  EXPECT_EQ(cause.firstIs, FirstStore::Lost);
  ASSERT_TRUE(cause.first && cause.second && cause.flush && cause.read);
  EXPECT_EQ(cause.first->event, lost);
  EXPECT_EQ(cause.first->level, 1U);
  EXPECT_EQ(cause.first->place.value(), 1U);
  EXPECT_EQ(cause.first->at.line, kInit);
  EXPECT_EQ(cause.first->bytes.file, "/pool");
  EXPECT_EQ(cause.first->bytes.offset, kValue);
  EXPECT_EQ(cause.first->bytes.type, "Node.value");
  EXPECT_EQ(integerOf(cause.first->bytes.before), 0U);
  EXPECT_EQ(integerOf(cause.first->bytes.after), 5U);
  EXPECT_EQ(cause.second->event, kept);
  EXPECT_EQ(integerOf(cause.second->bytes.after), 64U);
  EXPECT_EQ(cause.flush->access, "clwb");
  EXPECT_EQ(cause.flush->bytes.offset, kValue);
  EXPECT_EQ(integerOf(cause.read->value), 0U) << "the old bytes";
  EXPECT_EQ(integerOf(cause.read->bytes.after), 5U) << "with everything persisted";
  ASSERT_EQ(cause.read->sources.size(), 2U);
  EXPECT_TRUE(cause.tested && cause.examined);
  EXPECT_FALSE(cause.eitherWay || cause.promised);
  ASSERT_EQ(f.shownBy->crashes.size(), 1U);
  const SeenCrash& crash = f.shownBy->crashes[0];
  EXPECT_EQ(crash.event, f.crashState->front().at);
  ASSERT_EQ(crash.lost.size(), 1U);
  EXPECT_EQ(crash.lost[0], *cause.first);
}

TEST(Cause, MissingFence) {
  Node p;
  p.storeAt(p.init, kValue, 5);
  p.flush(kValue);
  p.storeAt(p.publish, kRoot, 64);
  p.flush(kRoot), p.fence();
  const CrashCheck c = check(p, follow);
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "missing-fence");
  EXPECT_EQ(causeSites(f), (std::vector<std::uint64_t>{kInit, kPublish}));
  EXPECT_TRUE(says(f, "the flush was still under way"));
}

TEST(Cause, MissingFenceAfterANonTemporalStore) {
  Node p;
  p.writer.event(EventKind::StoreNt, 1, p.at(kValue), 5, 8, p.init);
  p.storeAt(p.publish, kRoot, 64);
  p.flush(kRoot), p.fence();
  EXPECT_EQ(nameOf(only(check(p, follow)).kind), "missing-fence");
}

TEST(Cause, WrongOrder) {
  Node p;
  p.storeAt(p.init, kValue, 5);
  p.storeAt(p.publish, kRoot, 64);
  p.flush(kRoot), p.fence();
  p.flush(kValue), p.fence();
  const CrashCheck c = check(p, follow);
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "wrong-order");
  EXPECT_EQ(causeSites(f), (std::vector<std::uint64_t>{kInit, kPublish}));
  EXPECT_TRUE(says(f, "only later"));
}

TEST(Cause, AFlushForAnotherStoreIsNone) {
  Node p;
  p.storeAt(p.init, kValue, 5);
  p.storeAt(p.publish, kRoot, 64);
  p.flush(kRoot), p.fence();
  p.storeAt(p.place(9), kValue + 8, 1);
  p.flush(kValue), p.fence();
  EXPECT_EQ(nameOf(only(check(p, follow)).kind), "missing-flush");
}

// Two halves that must be equal.
Outcome equalHalves(FakeMemory& m) { return m.load(0) == m.load(64) ? exited() : broke("the halves are equal"); }

TEST(Cause, NotAtomicThoughNothingIsLost) {
  JudgedProgram p;
  p.storeAt(p.place(1), 0, 7);
  p.persist(0);
  p.storeAt(p.place(2), 64, 7);
  p.persist(64);
  const CrashCheck c = check(p, equalHalves);
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "not-atomic");
  EXPECT_EQ(causeSites(f), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_NE(verdictOf(f).find("if the power fails between them"), std::string::npos) << verdictOf(f);
  EXPECT_NE(crashText(*f.shownBy).find("with everything persisted"), std::string::npos);
}

TEST(Cause, NotAtomicEitherWay) {
  JudgedProgram p;
  p.storeAt(p.place(1), 0, 7);
  p.storeAt(p.place(2), 64, 7);
  p.clwb(1, 0), p.clwb(1, 64);
  p.sfence(1);
  const CrashCheck c = check(p, equalHalves);
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "not-atomic");
  EXPECT_EQ(causeSites(f), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_TRUE(says(f, "both fail"));
  EXPECT_EQ(f.shownBy->states, 2U);
}

TEST(Cause, AnAcknowledgedOperationThatIsLost) {
  JudgedProgram p;
  p.opBegin(1, "put");
  p.storeAt(p.place(1), 0, 7);
  p.opEnd(1);
  const CrashCheck c = check(p, [](FakeMemory& m) {
    bool there = m.load(0) == 7;
    return m.opState(0) == 2 && !there ? broke("what was put is there") : exited();
  });
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "missing-flush");
  EXPECT_EQ(f.operation, "put");
  EXPECT_NE(verdictOf(f).find("though the operation that wrote it has ended at (2)"), std::string::npos)
      << verdictOf(f);
}

// What counts is what was flushed when the operation ended, not when the power failed.
TEST(Cause, AFlushBehindTheOperationIsTooLateForIt) {
  JudgedProgram p;
  p.opBegin(1, "put");
  p.storeAt(p.place(1), 0, 7);
  p.opEnd(1);
  p.persist(0);  // the power fails between its flush and its fence
  const CrashCheck c = check(p, [](FakeMemory& m) {
    bool there = m.load(0) == 7;
    return m.opState(0) == 2 && !there ? broke("what was put is there") : exited();
  });
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "missing-flush");
  EXPECT_EQ(f.operation, "put");
}

// What the restart read of later stores makes no difference, and what makes one was stored before the operation: no
// single store relies on the lost one, which was never flushed.
TEST(Cause, ALostStoreOnWhichNoSingleOneRelies) {
  constexpr std::uint64_t kReady = 0, kA = 64, kB = 128;
  JudgedProgram p;
  p.storeAt(p.place(1), kReady, 1), p.persist(kReady);
  p.opBegin(1, "put");
  p.storeAt(p.place(2), kA, 5);
  p.storeAt(p.place(3), kB, 1), p.persist(kB);
  p.opEnd(1);
  const CrashCheck c = check(p, [](FakeMemory& m) {
    if (m.load(kReady) == 0) return exited();
    bool there = m.load(kA) == 5;
    m.load(kB);
    return there ? exited() : crashed();
  });
  auto lost = std::find_if(c.findings.begin(), c.findings.end(),
                           [](const auto& f) { return f.finding.kind == FindingKind::MissingFlush; });
  ASSERT_NE(lost, c.findings.end());
  EXPECT_EQ(causeSites(lost->finding), std::vector<std::uint64_t>{2});
}

// Nothing is lost: what leads to the value was there before the value was.
TEST(Cause, PublishedBeforeItIsWritten) {
  Node p;
  p.storeAt(p.publish, kRoot, 64);
  p.flush(kRoot), p.fence();
  p.storeAt(p.init, kValue, 5);
  p.flush(kValue), p.fence();
  const CrashCheck c = check(p, follow);
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "wrong-order");
  EXPECT_EQ(causeSites(f), (std::vector<std::uint64_t>{kInit, kPublish}));
}

TEST(Cause, OneMistakeInManyNodesIsOneFinding) {
  Node p;
  for (std::uint64_t i = 0; i < 6; ++i) {
    p.storeAt(p.init, 64 + 64 * i, 5);
    p.storeAt(p.publish, 8 * i, 1);
    p.flush(8 * i), p.fence();
  }
  CrashCheck c = check(p, [](FakeMemory& m) {
    for (std::uint64_t i = 0; i < 6; ++i)
      if (m.load(8 * i) != 0 && m.load(64 + 64 * i) != 5) return crashed();
    return exited();
  });
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "missing-flush");
  EXPECT_EQ(f.shownBy->states, c.exploration.failing);
  EXPECT_GT(f.shownBy->states, 6U);
}

TEST(Cause, TwoMistakesAreTwoFindings) {
  Node p;
  p.storeAt(p.init, kValue, 5);  // never flushed
  p.storeAt(p.publish, kRoot, 64);
  p.flush(kRoot), p.fence();
  p.storeAt(p.place(11), 256, 1);  // flushed, no fence
  p.flush(256);
  p.storeAt(p.place(12), 128, 1);
  p.flush(128), p.fence();
  CrashCheck c = check(p, [](FakeMemory& m) {
    if (m.load(128) == 1 && m.load(256) != 1) return crashed(7);
    return follow(m);
  });
  std::vector<std::string> kinds;
  for (const auto& f : c.findings) kinds.emplace_back(nameOf(f.finding.kind));
  std::sort(kinds.begin(), kinds.end());
  EXPECT_EQ(kinds, (std::vector<std::string>{"missing-fence", "missing-flush"}));
}

TEST(Cause, FewestLostStores) {
  // Much else is lost too in most states; the smallest one loses the one store that matters.
  Node p;
  for (std::uint64_t i = 0; i < 5; ++i) p.storeAt(p.place(20 + i), 512 + 64 * i, 1);
  p.storeAt(p.init, kValue, 5);
  p.storeAt(p.publish, kRoot, 64);
  p.flush(kRoot), p.fence();
  CrashCheck c = check(p, [](FakeMemory& m) {
    for (std::uint64_t i = 0; i < 5; ++i) m.load(512 + 64 * i);
    return follow(m);
  });
  const Finding& f = only(c);
  EXPECT_EQ(causeSites(f), (std::vector<std::uint64_t>{kInit, kPublish}));
  EXPECT_EQ(f.examples.size(), 1U);
  EXPECT_NE(crashText(*f.shownBy).find("everything persisted but 8 bytes at offset 0x40"), std::string::npos)
      << crashText(*f.shownBy);
}

TEST(Cause, AStoreThatChangesNothingIsNotTheLostOne) {
  Node p;
  p.storeAt(p.place(30), kValue, 0);  // it was 0 before
  p.storeAt(p.init, kValue, 5);
  p.storeAt(p.publish, kRoot, 64);
  p.flush(kRoot), p.fence();
  EXPECT_EQ(causeSites(only(check(p, follow))).front(), kInit);
}

// A restart that follows a pointer which the run before had stored, and faults there.
TEST(Cause, APointerIsStaleIfItLeadsIntoNoPool) {
  constexpr std::uint64_t kPool = 0x700000000000, kOpen = kValue;
  auto kindFor = [&](std::uint64_t pointer) {
    Node p;
    p.map(0, 4096, kPool);
    p.storeAt(p.init, kRoot, pointer);
    p.flush(kRoot), p.fence();
    for (std::uint64_t open : {1, 0}) {
      p.storeAt(p.publish, kOpen, open);
      p.flush(kOpen), p.fence();
    }
    CrashCheck c = check(p, [](FakeMemory& m) {
      if (m.load(kOpen) == 0) return exited();
      Outcome outcome = crashed();
      outcome.faultAddress = m.load(kRoot) + 24;
      return outcome;
    });
    return std::string(nameOf(only(c).kind));
  };
  EXPECT_EQ(kindFor(kPool - 4096), "stale-pointer");
  EXPECT_EQ(kindFor(kPool + 4096), "stale-pointer");
  EXPECT_NE(kindFor(kPool), "stale-pointer");
  EXPECT_NE(kindFor(kPool + 4095), "stale-pointer");
  EXPECT_NE(kindFor(4096), "stale-pointer") << "a number";
}

TEST(CrashCheck, AProgramBugComesFirstAndIsNoCrashBug) {
  Node p;
  p.storeAt(p.init, kValue, 6);  // wrong by itself
  p.flush(kValue), p.fence();
  p.storeAt(p.publish, kRoot, 64);
  p.flush(kRoot), p.fence();
  CrashCheck c = check(p, follow);
  const Finding& f = only(c);
  EXPECT_EQ(nameOf(f.kind), "program-bug");
  // The state is what the whole run leaves.
  ASSERT_TRUE(f.crashState);
  ASSERT_EQ(f.crashState->size(), 1U);
  EXPECT_EQ(f.crashState->front().at, p.end());
  EXPECT_TRUE(f.crashState->front().persisted.empty());
  EXPECT_GT(c.exploration.failing, 0U) << "the same failure after crashes is counted and blamed on nothing else";
}

TEST(CrashCheck, ExitCodesAreJudgedByTheRules) {
  auto program = [] {
    auto p = std::make_unique<Node>();
    p->storeAt(p->init, kValue, 5);
    p->storeAt(p->publish, kRoot, 64);
    p->flush(kRoot), p->fence();
    return p;
  };
  auto recovery = [](int fine) {
    return [fine](FakeMemory& m) { return m.load(kRoot) != 0 && m.load(kValue) != 5 ? exited(3) : exited(fine); };
  };
  EXPECT_EQ(check(*program(), recovery(0)).findings.size(), 1U);
  CrashCheck lenient = check(*program(), recovery(1));
  EXPECT_TRUE(lenient.findings.empty()) << "the intact restart does not exit with 0 either";
  ASSERT_EQ(lenient.incomplete.size(), 1U) << "what exit codes mean is not known";
  EXPECT_NE(lenient.incomplete[0].find("exits with 1 and says nothing"), std::string::npos) << lenient.incomplete[0];
  EXPECT_EQ(lenient.exploration.exitCodes, ExitCodes::Unknown);
  CrashOptions o;
  o.expectExit = ExpectExit::Any;
  EXPECT_TRUE(check(*program(), recovery(0), o).findings.empty());
  o.expectExit = ExpectExit::Auto;
  o.recordedStatus = 1 << 8;
  EXPECT_TRUE(check(*program(), recovery(0), o).findings.empty());
  o.checker = true;
  EXPECT_EQ(check(*program(), recovery(0), o).findings.size(), 1U);
}

TEST(CrashCheck, RestartsThatAllFailProveNothing) {
  Node p;
  p.storeAt(p.init, kValue, 5);
  p.flush(kValue), p.fence();
  CrashOptions o;
  o.checker = true;
  auto failing = [](FakeMemory& m) {
    Outcome end = exited(static_cast<int>(m.load(kValue)) + 1);
    end.output = "working\nno memory\n";
    return end;
  };
  CrashCheck c = check(p, failing, o);
  EXPECT_TRUE(c.findings.empty());
  ASSERT_EQ(c.incomplete.size(), 1U);
  EXPECT_NE(c.incomplete[0].find("Every restart failed"), std::string::npos) << c.incomplete[0];
  EXPECT_NE(c.incomplete[0].find("says \"no memory\""), std::string::npos) << c.incomplete[0];
  // One that crashes has shown that it does something.
  EXPECT_EQ(check(p, [](FakeMemory&) { return crashed(); }, o).findings.size(), 1U);
}

// A restart that refuses a pool without its root, as one that was never made.
TEST(CrashCheck, WhatIsRefusedBeforeTheRunIsNotBlamedOnACrash) {
  auto refuses = [](FakeMemory& m) { return m.load(kRoot) == 0 ? exited(1) : exited(m.load(kValue) == 5 ? 0 : 2); };
  Node right;
  right.storeAt(right.init, kValue, 5);
  right.flush(kValue), right.fence();
  right.storeAt(right.publish, kRoot, 64);
  right.flush(kRoot), right.fence();
  CrashCheck c = check(right, refuses);
  EXPECT_TRUE(c.findings.empty());
  EXPECT_TRUE(c.incomplete.empty());
  ASSERT_EQ(c.notes.size(), 1U);
  EXPECT_NE(c.notes[0].find("as they were before the run"), std::string::npos) << c.notes[0];

  // What makes it a pool may be lost for ever.
  Node unflushed;
  unflushed.storeAt(unflushed.init, kValue, 5);
  unflushed.flush(kValue), unflushed.fence();
  unflushed.storeAt(unflushed.publish, kRoot, 64);
  unflushed.fence();
  EXPECT_EQ(only(check(unflushed, refuses)).kind, FindingKind::MissingFlush);

  // Half of it is there.
  Node early;
  early.storeAt(early.publish, kRoot, 64);
  early.flush(kRoot), early.fence();
  early.storeAt(early.init, kValue, 5);
  early.flush(kValue), early.fence();
  CrashCheck found = check(early, refuses);
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_EQ(found.findings[0].finding.shownBy->symptom, "exits with 2");
}

TEST(CrashCheck, WhatCannotBeJudgedIsNoFinding) {
  Node p;
  p.storeAt(p.init, kValue, 5);
  p.storeAt(p.publish, kRoot, 64);
  p.flush(kRoot), p.fence();
  CrashCheck c = check(p, [](FakeMemory& m) {
    Outcome o = follow(m);
    if (o.ending == Ending::Signalled) o.ending = Ending::TimedOut;
    return o;
  });
  EXPECT_TRUE(c.findings.empty());
  ASSERT_EQ(c.incomplete.size(), 1U);
  EXPECT_NE(c.incomplete[0].find("could not be judged"), std::string::npos);
  EXPECT_EQ(c.exploration.notExplored, c.incomplete);
}

TEST(CrashCheck, WhatDoesNotFailAgainIsOnlySuspectedAndNothingIsClean) {
  Node p;
  p.storeAt(p.init, kValue, 5);
  p.storeAt(p.publish, kRoot, 64);
  p.flush(kRoot), p.fence();
  const CrashCheck c = check(p, follow, {}, Outcome());
  const Finding& f = only(c);
  EXPECT_EQ(f.severity, Severity::Suspected);
  EXPECT_TRUE(says(f, "did not fail"));
  EXPECT_THAT(c.incomplete, testing::Contains(testing::HasSubstr("run once more on the same crash state")));
  // A replay that ends well is to say that the failure did not happen again, so it must know of the failure.
  EXPECT_EQ(c.findings.front().replay.expected.ending, Ending::Signalled);
}

TEST(CrashCheck, WhatTakesTooLongToRecordIsRunWithoutThat) {
  Node p;
  p.storeAt(p.init, kValue, 5);
  p.storeAt(p.publish, kRoot, 64);
  p.flush(kRoot), p.fence();
  Outcome slow;
  slow.ending = Ending::TimedOut;
  const CrashCheck c = check(p, follow, {}, slow);
  EXPECT_EQ(only(c).severity, Severity::Shown);
  EXPECT_TRUE(c.incomplete.empty());
}

TEST(CrashCheck, TheSameAtAnyNumberOfJobs) {
  auto found = [](unsigned jobs) {
    Node p;
    for (std::uint64_t i = 0; i < 6; ++i) {
      p.storeAt(p.init, 64 + 64 * i, 5);
      p.storeAt(p.publish, 8 * i, 1);
      p.flush(8 * i), p.fence();
    }
    CrashOptions o;
    o.jobs = jobs;
    return check(
        p,
        [](FakeMemory& m) {
          for (std::uint64_t i = 0; i < 6; ++i)
            if (m.load(8 * i) != 0 && m.load(64 + 64 * i) != 5) return crashed();
          return exited();
        },
        o);
  };
  CrashCheck one = found(1), eight = found(8);
  ASSERT_EQ(one.findings.size(), eight.findings.size());
  for (std::size_t i = 0; i < one.findings.size(); ++i) EXPECT_EQ(one.findings[i].finding, eight.findings[i].finding);
  EXPECT_EQ(one.exploration, eight.exploration);
}

TEST(CrashCheck, TheReplayFileHoldsTheCrash) {
  Node p;
  p.storeAt(p.init, kValue, 5);
  p.storeAt(p.publish, kRoot, 64);
  p.flush(kRoot), p.fence();
  CrashCheck c = check(p, follow);
  ASSERT_EQ(c.findings.size(), 1U);
  const ReplayFile& r = c.findings[0].replay;
  auto trace = Trace::fromBytes(std::as_bytes(std::span(r.trace)));
  ASSERT_TRUE(trace);
  auto index = Index::build(*trace, {});
  auto image = buildImage(CrashLevel(r.at, UnnamedLines::Least), *index);
  ASSERT_TRUE(image);
  std::uint64_t root = 0, value = 1;
  image->files[0].bytes.read(kRoot, std::as_writable_bytes(std::span(&root, 1)));
  image->files[0].bytes.read(kValue, std::as_writable_bytes(std::span(&value, 1)));
  EXPECT_EQ(root, 64U);
  EXPECT_EQ(value, 0U);
  EXPECT_EQ(r.expected.code, 11);
}

TEST(CrashCheck, LoadsThatMayReadFromSeveralStores) {
  Node p;
  p.storeAt(p.init, kValue, 5);
  p.storeAt(p.place(8), kValue, 5 + 1);
  p.storeAt(p.publish, kRoot, 64);
  p.flush(kRoot), p.fence();
  CrashOptions o;
  o.loadsReport = true;
  CrashCheck c = check(p, [](FakeMemory& m) { return m.load(kRoot) == 0 ? exited() : (m.load(kValue), exited()); }, o);
  ASSERT_EQ(c.exploration.loads.size(), 1U) << "both without debug information";
  EXPECT_EQ(c.exploration.loads[0].stores,
            (std::vector<std::string>{"before the recording", "f.c:1", "f.c:2", "f.c:8"}));
}

// --- points ---

TEST(Points, AreChosen) {
  JudgedProgram p;
  for (int i = 0; i < 10; ++i) {
    p.opBegin(1);
    p.storeAt(p.place(1), 0, static_cast<std::uint64_t>(i) + 1);
    p.persist(0);
    p.opEnd(1);
  }
  const Index& index = p.index();
  auto count = [&](std::string_view text) {
    auto choice = parsePointChoice(text);
    EXPECT_TRUE(choice) << text;
    auto points = choosePoints(index, *choice);
    EXPECT_TRUE(points) << text;
    return points ? points->size() : 0;
  };
  std::vector<EventNo> enough = index.points(PointsMode::Enough);
  EXPECT_EQ(count("enough"), enough.size());
  EXPECT_EQ(count("all"), index.points(PointsMode::All).size());
  EXPECT_EQ(count("3"), 3U);
  EXPECT_EQ(count("1000000"), enough.size());
  EXPECT_EQ(count(std::to_string(enough[2].value()) + "-" + std::to_string(enough[4].value())), 3U);
  std::vector<EventNo> all = index.points(PointsMode::All);
  std::erase_if(all, [&](EventNo n) { return std::binary_search(enough.begin(), enough.end(), n); });
  EXPECT_EQ(count(std::to_string(all[2].value()) + "," + std::to_string(enough[4].value())), 2U)
      << "an event on its own is a point";
  for (const char* bad : {"", "none", "0", "5-", "-5", "9-3", "1,,2", "x-y"})
    EXPECT_FALSE(parsePointChoice(bad)) << bad;

  PointChoice ops;
  ops.fromOp = 2;
  ops.toOp = 3;
  auto points = choosePoints(index, ops);
  ASSERT_TRUE(points);
  EXPECT_EQ(points->size(), 5U) << "two per operation, and the one after the last of them";
  ops.toOp = 10;
  EXPECT_FALSE(choosePoints(index, ops));
  ops.toOp = 1;
  EXPECT_FALSE(choosePoints(index, ops));
}

}  // namespace
}  // namespace blackout
