// Reads that break a rule, by the crash state in which they are made.
#include "judge/bad_reads.h"

#include <gtest/gtest.h>

#include "judged_restarts.h"

namespace blackout::test {
namespace {

constexpr std::uint64_t kA = 0, kFlag = 64, kOther = 128;
constexpr std::uint64_t kReadA = 101, kReadFlag = 102;
constexpr const char* kField = "Pool.flag";

// Trusts A where the flag is set.
Outcome guarded(FakeMemory& m) {
  return m.load(kFlag, 8, kReadFlag) == 0 ? printed("none") : printed(std::to_string(m.load(kA, 8, kReadA)));
}
// The flag is a guardian, as the code says.
ProgramGuardians flagGuardsA() {
  return ProgramGuardians(ProgramGuardians::Table{{{kReadFlag, kField}}, {{kReadA, {{kField, "why"}}}}, {kField}});
}

struct Flagged : JudgedProgram {
  void set(std::uint64_t value) { storeAt(place(2, SiteKind::Store, kField), kFlag, value), persist(kFlag); }
  void write(std::uint64_t value) { storeAt(place(1, SiteKind::Store, "Pool.a"), kA, value), persist(kA); }
  void registers() {
    writer.event(EventKind::CommitVar, 1, at(kFlag), 8, 0);
    std::string range(16, '\0');
    std::uint64_t size = 8;
    PmAddr variable = at(kFlag);
    std::memcpy(range.data(), &size, 8), std::memcpy(range.data() + 8, &variable, 8);
    writer.blob(EventKind::CommitRange, 1, at(kA), range);
  }
};

// Names of what is wrong with a restart that prints `output` in the last space.
std::vector<std::string> wrong(JudgedRestarts& r, std::string_view output, bool inferred) {
  std::vector<std::string> kinds;
  for (const BadRead& b : r.bad.of(r.last(), r.printing(r.last(), output), inferred)) {
    kinds.emplace_back(nameOf(b.kind));
    EXPECT_EQ(b.reader, kReadA);
    EXPECT_EQ(b.because, inferred ? "why" : "");
  }
  return kinds;
}
using Kinds = std::vector<std::string>;

TEST(BadReads, WhatAGuardianDoesNotVouchFor) {
  Flagged p;
  p.write(1), p.set(1), p.set(0), p.set(1), p.write(2);
  JudgedRestarts r(p, guarded, flagGuardsA());
  EXPECT_EQ(wrong(r, "2", true), Kinds{"uncommitted-read"});  // written after the flag was set
  EXPECT_EQ(wrong(r, "1", true), Kinds{"stale-read"});        // before it was set the last but one time
  EXPECT_EQ(wrong(r, "2", false), Kinds{}) << "nobody has registered it";
}

TEST(BadReads, WhatWasWrittenBetweenTheLastTwoCommitsIsRight) {
  Flagged p;
  p.set(1), p.set(0), p.write(1), p.set(1);
  p.storeAt(p.place(9), kOther, 1);
  JudgedRestarts r(p, guarded, flagGuardsA());
  EXPECT_EQ(wrong(r, "1", true), Kinds{});
}

// A value that is only counted up, or set once, is no flag that says so of each new version.
TEST(BadReads, AGuardianMustBeSetAndCleared) {
  for (std::vector<std::uint64_t> values : {std::vector<std::uint64_t>{1}, {1, 2, 3}, {1, 1}}) {
    Flagged p;
    p.write(1);
    for (std::uint64_t v : values) p.set(v);
    p.write(2);
    JudgedRestarts r(p, guarded, flagGuardsA());
    EXPECT_EQ(wrong(r, "2", true), Kinds{}) << values.size();
  }
}

// What is read whatever the test found does not hang on it, whatever the code looks like.
TEST(BadReads, AGuardianMustDecideWhatIsRead) {
  Flagged p;
  p.write(1), p.set(1), p.set(0), p.set(1), p.write(2);
  JudgedRestarts r(
      p,
      [](FakeMemory& m) {
        m.load(kFlag, 8, kReadFlag);
        return printed(std::to_string(m.load(kA, 8, kReadA)));
      },
      flagGuardsA());
  EXPECT_EQ(wrong(r, "2", true), Kinds{});
}

TEST(BadReads, OfARegisteredVariable) {
  Flagged p;
  p.registers();
  p.write(1), p.set(1), p.set(2);
  JudgedRestarts r(p, guarded, JudgedRestarts::noGuardians());
  SpaceNo last = r.last();
  // With the second commit A is of a version before the last two; without it, of the last.
  std::vector<Kinds> all;
  for (RecoveryNo recovery : r.explorer.space(last).recoveries) {
    Kinds kinds;
    for (const BadRead& b : r.bad.of(last, recovery, false)) {
      kinds.emplace_back(nameOf(b.kind));
      EXPECT_LT(b.writer, b.commitBefore);
      EXPECT_LT(b.commitBefore, b.commit);
    }
    all.push_back(kinds);
  }
  EXPECT_EQ(all.size(), 2U);
  EXPECT_NE(std::find(all.begin(), all.end(), Kinds{}), all.end());
  EXPECT_NE(std::find(all.begin(), all.end(), Kinds{"stale-read"}), all.end());
}

// Not durable when the variable was set; but before the variable was there, nobody promised anything.
TEST(BadReads, WhatIsFromBeforeTheVariablesTimeIsNotJudged) {
  for (bool early : {true, false}) {
    Flagged p;
    if (!early) p.registers();
    p.storeAt(p.place(1), kA, 1);
    if (early) p.registers();
    p.set(1);
    JudgedRestarts r(p, guarded);
    EXPECT_EQ(wrong(r, "1", false), early ? Kinds{} : Kinds{"uncommitted-read"});
  }
}

TEST(BadReads, MemoryIsUndefinedFromItsAllocationOn) {
  JudgedProgram p;
  p.storeAt(p.place(1), kA, 5), p.persist(kA);
  EventNo allocated = p.range(EventKind::Discard, 1, kA, 8);
  p.storeAt(p.place(2), kOther, 1), p.persist(kOther);
  JudgedRestarts r(p, [](FakeMemory& m) { return printed(std::to_string(m.load(kA, 8, kReadA))); });
  ASSERT_EQ(r.explorer.spaceCount(), 2U);
  EXPECT_TRUE(r.bad.of(0, r.printing(0, "5"), false).empty());
  auto bad = r.bad.of(1, r.printing(1, "5"), false);
  ASSERT_EQ(bad.size(), 1U);
  EXPECT_EQ(bad[0].kind, FindingKind::UninitializedRead);
  EXPECT_EQ(bad[0].allocated, allocated);
  EXPECT_EQ(bad[0].writer, kNoStore);
}

TEST(BadReads, CommitStoresAreThoseOfVariablesAndFlags) {
  Flagged p;
  p.registers();
  p.write(1), p.set(1);
  JudgedRestarts r(p, guarded);
  EXPECT_FALSE(r.bad.isCommit(0));
  EXPECT_TRUE(r.bad.isCommit(1));

  for (bool flag : {true, false}) {
    Flagged q;
    q.write(1), q.set(1), q.set(flag ? 0 : 2), q.set(flag ? 1 : 3);
    JudgedRestarts s(q, guarded, flagGuardsA());
    EXPECT_FALSE(s.bad.isCommit(0));
    EXPECT_EQ(s.bad.isCommit(1), flag);
    JudgedRestarts unknown(q, guarded);
    EXPECT_FALSE(unknown.bad.isCommit(1));
  }
}

}  // namespace
}  // namespace blackout::test
