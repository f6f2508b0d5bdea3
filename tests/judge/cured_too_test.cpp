// Stores in the line of a shown lost one, which are never made durable: one mistake with it, if its cure helps.
#include "judge/cured_too.h"

#include <gtest/gtest.h>

#include "judged_program.h"

namespace blackout::test {
namespace {

constexpr const char* kNeverPersisted = "never-persisted";

// What is suspected of the program, and that a crash has shown the store of site `lost` to be lost while that of site
// `relies` survives.
std::vector<Finding> joined(JudgedProgram& p, std::uint64_t lost, std::uint64_t relies) {
  std::vector<Finding> findings = p.found(kNeverPersisted);
  CrashCause cause;
  cause.kind = FindingKind::MissingFlush;
  cause.first.emplace().place = 1;
  cause.second.emplace().place = 2;
  cause.first->level = cause.second->level = 1;
  Finding shown = makeFinding(FindingKind::MissingFlush, cause);
  shown.places.resize(2);
  shown.places[0].siteId = lost;
  shown.places[1].siteId = relies;
  shown.shownBy.emplace();
  shown.evidence = {TriedCure{CureKind::Flush, 1, 2}};
  findings.push_back(shown);
  joinNotDurable(findings);
  joinCuredToo(findings, p.index());
  return findings;
}

// A value (1) and a key (2) in one line, and a pointer (3) in another, which relies on them and is persisted.
struct Entry : JudgedProgram {
  Entry(std::uint64_t value, std::uint64_t key) {
    storeAt(place(1), value);
    storeAt(place(2), key);
    storeAt(place(3), 128);
    persist(128);
  }
};

TEST(CuredToo, StoresOfOneLineAreOneMistake) {
  for (std::uint64_t lost : {1, 2}) {
    Entry p(0, 8);
    std::vector<Finding> one = joined(p, lost, 3);
    ASSERT_EQ(one.size(), 1U) << lost;
    ASSERT_EQ(one[0].places.size(), 3U);
    EXPECT_EQ(one[0].places[2].siteId, 3 - lost);
    EXPECT_TRUE(one[0].places[2].incidental);
    EXPECT_EQ(one[0].evidence, (std::vector<Fact>{TriedCure{CureKind::Flush, 1, 2},
                                                  NotDurableEither{1, NotDurable::When::ProgramEnded, 1, 1},
                                                  NotDurableEither{3, NotDurable::When::ProgramEnded, 1, 1}}));
  }
}

TEST(CuredToo, AnotherLineIsAnotherMistake) {
  Entry p(64, 8);
  std::vector<Finding> two = joined(p, 2, 3);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].kind, FindingKind::NeverPersisted);
  EXPECT_EQ(two[0].places[0].siteId, 1U);
}

// Stored when what relies on the lost one has long been durable, it needs a flush of its own.
TEST(CuredToo, WhatTheCureLeavesIsAnotherMistake) {
  Entry p(0, 8);
  p.storeAt(p.place(4), 16);
  EXPECT_EQ(joined(p, 2, 3).size(), 2U);
}

// Nor is it the same mistake if that store of it is only one of several, of which others are in lines of their own.
TEST(CuredToo, OneThatIsCuredInPartIsAnotherMistake) {
  Entry p(0, 8);
  p.storeAt(p.place(1), 256);
  EXPECT_EQ(joined(p, 2, 3).size(), 2U);
}

// Bytes that a transaction had not logged are durable after its end if it logs them. Stored outside of one as well,
// they need a flush of their own.
TEST(CuredToo, WhatATransactionLacksIsOneMistake) {
  for (bool outside : {false, true}) {
    JudgedProgram p;
    std::string range(16, '\0');
    range[0] = 8;
    p.event(EventKind::TxBegin);
    p.writer.blob(EventKind::TxAdd, 1, p.at(0), range);
    p.storeAt(p.place(1), 64);
    p.event(EventKind::TxEnd);
    if (outside) p.storeAt(p.place(1), 128);
    std::vector<Finding> findings = p.found(kNeverPersisted);
    ASSERT_EQ(findings.size(), 1U);
    CrashCause cause;
    cause.kind = FindingKind::NotAtomic;
    cause.first.emplace().place = 1;
    cause.first->level = 1;
    Finding shown = makeFinding(FindingKind::NotAtomic, cause);
    shown.places.resize(1);
    shown.places[0].siteId = 1;
    shown.shownBy.emplace();
    shown.evidence = {TriedCure{CureKind::Add, 1, 0, false, 0, 1, true}};
    findings.push_back(shown);
    joinCuredToo(findings, p.index());
    ASSERT_EQ(findings.size(), outside ? 2U : 1U);
    if (outside) continue;
    EXPECT_EQ(findings[0].places.size(), 1U);
    EXPECT_EQ(findings[0].evidence.back(), Fact(NotDurableEither{1, NotDurable::When::ProgramEnded, 1, 1}));
  }
}

TEST(CuredToo, ACureThatWasNotTriedJoinsNothing) {
  Entry p(0, 8);
  std::vector<Finding> findings = p.found(kNeverPersisted);
  ASSERT_EQ(findings.size(), 2U);
  joinCuredToo(findings, p.index());
  EXPECT_EQ(findings.size(), 2U);
}

}  // namespace
}  // namespace blackout::test
