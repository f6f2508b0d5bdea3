// Answers that no crash should lead to, and the read that each comes of.
#include "judge/answer_judge.h"

#include <gtest/gtest.h>

#include "judged_restarts.h"

namespace blackout::test {
namespace {

constexpr std::uint64_t kA = 0, kB = 64, kC = 128;
constexpr std::uint64_t kReadA = 101, kReadB = 102, kReadC = 103;

// Says what A and B hold; what C holds makes no difference.
Outcome says(FakeMemory& m) {
  m.load(kC, 8, kReadC);
  std::uint64_t a = m.load(kA, 8, kReadA), b = m.load(kB, 8, kReadB);
  return printed(std::to_string(a) + std::to_string(b));
}

// All three are stored, flushed and fenced together, in an operation if they say so.
struct Together : JudgedProgram {
  explicit Together(bool operation = false, const std::vector<std::uint64_t>& before = {}) {
    for (std::uint64_t offset : before) storeAt(place(500 + offset), offset, 7), persist(offset);
    if (operation) opBegin(1, "set");
    for (std::uint64_t offset : {kA, kB, kC}) storeAt(place(1 + offset), offset, 1);
    for (std::uint64_t offset : {kA, kB, kC}) clwb(1, offset);
    sfence(1);
    if (operation) opEnd(1);
  }
};

ProgramGuardians tests(std::uint64_t site) { return ProgramGuardians(ProgramGuardians::Table{{{site, "F"}}, {}, {}}); }

TEST(AnswerJudge, AllAndNothingAreRight) {
  Together p;
  JudgedRestarts r(p, says);
  for (const char* right : {"00", "11"}) {
    EXPECT_EQ(r.siteAtFault(r.suspected, 0, right), 0U) << right;
    EXPECT_EQ(r.suspected.verdict(0, r.printing(0, right)).judgement, Judgement::Fine);
    EXPECT_EQ(r.suspected.verdict(0, printed(right)).judgement, Judgement::Fine);
  }
}

// Another value of C, which is read first and races too, leads to no other answer.
TEST(AnswerJudge, TheReadAtFaultIsOneWithoutWhichTheAnswerIsRight) {
  Together p;
  JudgedRestarts r(p, says);
  for (const char* wrong : {"01", "10"}) {
    EXPECT_EQ(r.siteAtFault(r.suspected, 0, wrong), kReadA) << wrong;
    Verdict v = r.suspected.verdict(0, r.printing(0, wrong));
    EXPECT_EQ(v.judgement, Judgement::Failed);
    EXPECT_EQ(v.symptom, "answers neither as with all of it durable nor as with none");
    EXPECT_EQ(r.suspected.verdict(0, printed(wrong)).judgement, Judgement::Failed);
    // What a stretch without a mark says is a guess: it is not shown.
    EXPECT_EQ(r.shown.verdict(0, r.printing(0, wrong)).judgement, Judgement::Fine);
  }
}

TEST(AnswerJudge, ATestMadeOnPurposeIsNotAtFaultIfAnotherReadIs) {
  Together p;
  JudgedRestarts r(p, says, tests(kReadA));
  EXPECT_EQ(r.siteAtFault(r.suspected, 0, "10"), kReadB);
}

// Its own value is what a test may print, and words for it; not what follows from it.
TEST(AnswerJudge, ATestMadeOnPurposeIsExemptByItsValueAlone) {
  Together p(true);
  SpaceNo in = 1;
  JudgedRestarts value(
      p, [](FakeMemory& m) { return printed("dirty " + std::to_string(m.load(kA, 8, kReadA)) + "\nsum 3\n"); },
      tests(kReadA));
  EXPECT_EQ(value.siteAtFault(value.shown, in, "dirty 1\nsum 3\n"), 0U);
  Together q(true);
  JudgedRestarts lost(
      q,
      [](FakeMemory& m) {
        std::uint64_t b = m.load(kB, 8, kReadB);
        return m.load(kA, 8, kReadA) != b ? printed("crash occurred\n")
                                          : printed("key 1\nkey " + std::to_string(b + 2) + "\n");
      },
      ProgramGuardians(ProgramGuardians::Table{{{kReadA, "F"}, {kReadB, "G"}}, {}, {}}));
  EXPECT_NE(lost.siteAtFault(lost.shown, in, "crash occurred\n"), 0U);
}

// A count that says how many entries to read is a test, and what an operation that has ended counted was promised. A
// flag that it leaves as it found it was not.
TEST(AnswerJudge, WhatAnEndedOperationMadeOfATestedValueIsData) {
  SpaceNo in = 1;  // the second operation's entry is about to be durable
  for (bool counts : {true, false}) {
    JudgedProgram p;
    p.opBegin(1, "append");
    p.storeAt(p.place(1), kA, 1);
    if (!counts) p.persist(kA), p.storeAt(p.place(2), kA, 0);
    p.opEnd(1);
    p.opBegin(1, "append");
    p.storeAt(p.place(3), kC, 1), p.persist(kC);
    p.opEnd(1);
    JudgedRestarts r(
        p, [](FakeMemory& m) { return printed(std::to_string(m.load(kA, 8, kReadA)) + " entries\n"); }, tests(kReadA));
    SpaceNo at = counts ? in : SpaceNo(2);
    EXPECT_EQ(r.siteAtFault(r.shown, at, counts ? "0 entries\n" : "1 entries\n"), counts ? kReadA : 0U) << counts;
  }
}

// The same where nobody has analysed the code: a value that decides over what is read is a test.
TEST(AnswerJudge, AValueThatDecidesOverReadsIsExemptAndOneThatDoesNotIsData) {
  SpaceNo in = 2;  // C is not durable yet, and A will be the next to be stored
  for (bool decides : {true, false}) {
    JudgedProgram p;
    p.opBegin(1, "set");
    p.storeAt(p.place(1), kC, 1), p.persist(kC);
    p.storeAt(p.place(2), kA, 1), p.persist(kA);
    p.storeAt(p.place(3), kA, 0), p.persist(kA);
    p.opEnd(1);
    JudgedRestarts r(p, [decides](FakeMemory& m) {
      std::uint64_t a = m.load(kA, 8, kReadA);
      if (decides && a != 0) m.load(kB, 8, kReadB), m.load(kC, 8, kReadC);
      return printed("dirty " + std::to_string(a) + "\nsum 3\n");
    });
    EXPECT_EQ(r.siteAtFault(r.shown, in, "dirty 1\nsum 3\n"), decides ? 0 : kReadA);
  }
  // Recovery goes on to the end: with its own value apart, that is the answer after the operation.
  JudgedProgram p;
  p.opBegin(1, "set");
  p.storeAt(p.place(1), kC, 1), p.persist(kC);
  p.storeAt(p.place(2), kA, 1), p.persist(kA);
  p.storeAt(p.place(3), kB, 1), p.persist(kB);
  p.storeAt(p.place(4), kA, 0), p.persist(kA);
  p.opEnd(1);
  JudgedRestarts r(p, [](FakeMemory& m) {
    std::uint64_t a = m.load(kA, 8, kReadA);
    std::uint64_t value = a != 0 ? m.load(kC, 8, kReadC) : m.load(kB, 8, kReadB);
    return printed("dirty " + std::to_string(a) + "\nsum " + std::to_string(value) + "\n");
  });
  EXPECT_EQ(r.siteAtFault(r.shown, in, "dirty 1\nsum 1\n"), 0U);
}

// Words are a test's own as long as what they say doesn't depend on what else a crash left.
TEST(AnswerJudge, WordsThatATestLeadsToAreDataIfTheyQuoteWhatIsReadAfterIt) {
  SpaceNo in = 1;
  auto restart = [](const std::function<std::string(std::uint64_t)>& words) {
    return [words](FakeMemory& m) {
      if (m.load(kC, 8, kReadC) == 0) return printed("nothing\n");
      if (m.load(kA, 8, kReadA) != 0) return printed("");
      return printed(words(m.load(kB, 8, kReadB)));
    };
  };
  Together p(true);
  JudgedRestarts quoted(p, restart([](std::uint64_t b) { return "left: '" + std::to_string(b) + "'\n"; }));
  EXPECT_NE(quoted.siteAtFault(quoted.shown, in, "left: '0'\n"), 0U);
  EXPECT_NE(quoted.siteAtFault(quoted.shown, in, "left: '1'\n"), 0U);
  Together q(true);
  JudgedRestarts numbered(q, restart([](std::uint64_t b) { return "left: " + std::to_string(b) + "\n"; }));
  EXPECT_NE(numbered.siteAtFault(numbered.shown, in, "left: 1\n"), 0U);
  Together r(true);
  JudgedRestarts same(r, restart([](std::uint64_t) { return "dropped record '7'\n"; }));
  EXPECT_EQ(same.siteAtFault(same.shown, in, "dropped record '7'\n"), 0U);
  // The number is how many tests came to the same, each of which decides over what is read.
  Together s(true, {192, 256});
  JudgedRestarts count(s, [](FakeMemory& m) {
    if (m.load(kC, 8, kReadC) == 0) return printed("");
    unsigned n = 0;
    if (m.load(kA, 8, kReadA) == 0) ++n, m.load(192);
    if (m.load(kB, 8, kReadB) == 0) ++n, m.load(256);
    return printed(n == 0 ? "" : "dropped " + std::to_string(n) + "\n");
  });
  while (count.explorer.space(in).recoveries.size() < 3) ++in;
  EXPECT_EQ(count.siteAtFault(count.shown, in, "dropped 1\n"), 0U);
}

// Nobody has analysed the code: that B is not even read without A tells that A is a test.
TEST(AnswerJudge, AReadThatDecidesOverOthersIsNotAtFaultIfOneOfThemIs) {
  Together p;
  JudgedRestarts r(p, [](FakeMemory& m) {
    return m.load(kA, 8, kReadA) == 0 ? printed("none") : printed("1" + std::to_string(m.load(kB, 8, kReadB)));
  });
  EXPECT_EQ(r.siteAtFault(r.suspected, 0, "10"), kReadB);
}

TEST(AnswerJudge, AWrongAnswerOfAnOperationIsShownWhetherTestsAreKnownOrNot) {
  for (bool known : {true, false}) {
    Together p(true);
    JudgedRestarts r(p, says, known ? tests(kReadC) : JudgedRestarts::noGuardians());
    SpaceNo in = 1;  // the one before it is in front of the operation
    EXPECT_EQ(r.siteAtFault(r.shown, in, "10"), kReadA) << known;
    EXPECT_EQ(r.siteAtFault(r.suspected, in, "10"), 0U) << known;
    const Verdict& v = r.shown.verdict(in, r.printing(in, "10"));
    EXPECT_EQ(v.judgement, Judgement::Failed);
    EXPECT_EQ(v.symptom, "answers neither as before the operation nor as after it");
    EXPECT_EQ(r.suspected.verdict(in, r.printing(in, "10")).judgement, Judgement::Fine);
  }
}

// What the oracle minds is shown, and is no matter of answers.
TEST(AnswerJudge, WhatFailsAnywayIsNotSuspectedToo) {
  Together p;
  JudgedRestarts r(p, [](FakeMemory& m) {
    Outcome o = says(m);
    if (o.output == "10") o.ending = Ending::Signalled;
    return o;
  });
  RecoveryNo failed = r.printing(0, "10");
  EXPECT_EQ(r.shown.verdict(0, failed).judgement, Judgement::Failed);
  EXPECT_EQ(r.suspected.verdict(0, failed).judgement, Judgement::Fine);
  EXPECT_EQ(r.siteAtFault(r.suspected, 0, "01"), kReadA);
}

// --- what races ---

// The sites of reads that race in the last space.
std::set<std::uint64_t> racing(JudgedRestarts& r) {
  std::set<std::uint64_t> sites;
  for (RecoveryNo recovery : r.explorer.space(r.last()).recoveries)
    for (const Observation& o : r.explorer.detail(r.last(), recovery).observations)
      if (r.reads.races(r.last(), o)) sites.insert(o.query.site);
  return sites;
}

TEST(RacingReads, AreOfWhatMayBeLost) {
  Together p;
  JudgedRestarts all(p, says);
  EXPECT_EQ(racing(all), (std::set<std::uint64_t>{kReadA, kReadB, kReadC}));
  JudgedProgram q;
  q.storeAt(q.place(1), kA, 1), q.persist(kA);
  q.storeAt(q.place(2), kB, 1), q.clwb(1, kB);
  q.storeAt(q.place(3), kC, 1);
  JudgedRestarts two(q, says);
  EXPECT_EQ(racing(two), (std::set<std::uint64_t>{kReadB, kReadC}));
}

TEST(RacingReads, StoresThatNobodyAskedAboutDoNotCount) {
  JudgedProgram p;
  p.storeAt(p.place(1), kC, 1);
  p.event(EventKind::RoiBegin);
  p.storeAt(p.place(2), kA, 1);
  p.range(EventKind::Ignore, 1, kB, 8);
  p.storeAt(p.place(3), kB, 1);
  JudgedRestarts r(p, says);
  EXPECT_EQ(racing(r), (std::set<std::uint64_t>{kReadA}));
}

TEST(RacingReads, ARegisteredVariableIsReadWhateverACrashLeft) {
  JudgedProgram p;
  p.writer.event(EventKind::CommitVar, 1, p.at(kB), 8, 0);
  for (std::uint64_t offset : {kA, kB, kB + 8}) p.storeAt(p.place(1 + offset), offset, 1);
  JudgedRestarts r(p, [](FakeMemory& m) {
    m.load(kA, 8, kReadA), m.load(kB, 8, kReadB), m.load(kB + 8, 8, kReadC);
    return exited();
  });
  EXPECT_EQ(racing(r), (std::set<std::uint64_t>{kReadA, kReadC}));
}

}  // namespace
}  // namespace blackout::test
