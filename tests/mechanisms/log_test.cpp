// Log-structured writes: a tail, units that lead to each other, a ring.
#include "described_program.h"

namespace blackout::test {
namespace {

using Phase = MechanismPhase;
using Rule = MechanismRule;

constexpr const char* kPlain = "[log.one]\ntail = \"inode.tail\"\nentry = { struct = \"record\" }\n";

class Log : public ::testing::Test {
 protected:
  void SetUp() override {
    p.type("inode", 8, {{"tail", 0, 8}});
    p.type("record", 64, {{"kind", 0, 8}, {"value", 8, 8}});
    p.setDurable("inode.tail", 0, 256);
  }
  void append(std::uint64_t at, bool durable = true) {
    p.set("record.kind", at, 1);
    p.set("record.value", at + 8, at);
    if (durable) p.persist(at);
  }
  void tail(std::uint64_t at) { p.setDurable("inode.tail", 0, at); }
  DescribedProgram p;
};

TEST_F(Log, Held) {
  append(256);
  tail(320);
  append(320);
  append(384);
  tail(448);
  Phases phases = p.check(kPlain);
  expectHeld(phases, 2);
  EXPECT_EQ(phases.tags[StoreNo(1)].phase, Phase::Append);
  EXPECT_TRUE(phases.isProtected(StoreNo(1)));
}

TEST_F(Log, TailMovedBeforeTheEntryIsDurable) {
  append(256, false);
  tail(320);
  p.persist(256);
  expectBroken(p.check(kPlain), Rule::Order, Phase::Append, Phase::Publish);
}

TEST_F(Log, EntryAfterTheTail) {
  p.opBegin(1);
  tail(320);
  append(256);
  p.opEnd(1);
  expectBroken(p.check(kPlain), Rule::Order, Phase::Append, Phase::Publish);
}

TEST_F(Log, TwoEntriesOverlap) {
  append(256);
  append(288);
  tail(384);
  expectBroken(p.check(kPlain), Rule::EntriesOverlap, Phase::Append, Phase::Append);
}

// They need not be written one after the other, nor from the lowest address up.
TEST_F(Log, EntriesOverlapWithAnotherWrittenBetweenThem) {
  append(256);
  append(384);
  append(288);
  tail(448);
  expectBroken(p.check(kPlain), Rule::EntriesOverlap, Phase::Append, Phase::Append);
}

TEST_F(Log, EntryReachesOverTheTail) {
  append(256);
  append(320);
  tail(352);
  expectBroken(p.check(kPlain), Rule::OutsideArea, Phase::Append, Phase::Publish);
}

TEST_F(Log, Ring) {
  auto run = [&](bool durable) {
    append(256);
    tail(320);
    append(320, durable);
    tail(256);
    p.persist(320);
    append(256);
    tail(320);
    return p.check("[log.one]\ntail = \"inode.tail\"\narea = { at = 256, size = 128 }\n");
  };
  expectHeld(run(true), 3);
}

TEST_F(Log, RingBroken) {
  append(256);
  tail(320);
  append(320, false);
  tail(256);
  p.persist(320);
  expectBroken(p.check("[log.one]\ntail = \"inode.tail\"\narea = { at = 256, size = 128 }\n"), Rule::Order,
               Phase::Append, Phase::Publish);
}

// Pages of 256 bytes, the last 8 of which lead to the next.
TEST_F(Log, Units) {
  constexpr const char* kUnits =
      "[log.one]\ntail = \"inode.tail\"\nunit = 256\nlink = \"page_end.next\"\nentry = { struct = \"record\" }\n";
  auto run = [&](bool durable) {
    DescribedProgram q;
    q.type("inode", 8, {{"tail", 0, 8}});
    q.type("record", 64, {{"kind", 0, 8}, {"value", 8, 8}});
    q.type("page_end", 8, {{"next", 0, 8}});
    q.setDurable("inode.tail", 0, 256 + 128);
    q.setDurable("page_end.next", 256 + 248, 1024);
    q.set("record.kind", 1024, 1);
    if (durable) q.persist(1024);
    q.setDurable("inode.tail", 0, 1024 + 64);
    q.persist(1024);
    return q.check(kUnits);
  };
  expectHeld(run(true), 1);
  expectBroken(run(false), Rule::Order, Phase::Append, Phase::Publish);
}

TEST_F(Log, ACutLogCommitsNothing) {
  append(256);
  tail(320);
  tail(256);
  Phases phases = p.check(kPlain);
  expectHeld(phases, 1);
}

}  // namespace
}  // namespace blackout::test
