// Replicas: whole copies, field by field, with a checksum, three of them.
#include "described_program.h"

namespace blackout::test {
namespace {

using Phase = MechanismPhase;
using Rule = MechanismRule;

constexpr const char* kTwo =
    "[replica.super]\ncopies = [\"&pool.first\", \"&pool.second\"]\nsize = 24\nchecksum = \"super.sum\"\n";

class Replicas : public ::testing::Test {
 protected:
  void SetUp() override {
    p.type("super", 24, {{"a", 0, 8}, {"b", 8, 8}, {"sum", 16, 8}});
    p.type("pool", 256, {{"magic", 0, 8}, {"first", 64, 24}, {"second", 128, 24}, {"third", 192, 24}});
    p.setDurable("pool.magic", 0, 1);
  }
  void write(std::uint64_t at, std::uint64_t value, bool durable = true, bool sum = true) {
    p.set("super.a", at, value);
    p.set("super.b", at + 8, value);
    if (sum) p.set("super.sum", at + 16, 2 * value);
    if (durable) p.persist(at);
  }
  // As libc does it.
  void copy(std::uint64_t at, std::uint64_t value) {
    std::string bytes;
    for (std::uint64_t word : {value, value, 2 * value}) bytes.append(reinterpret_cast<const char*>(&word), 8);
    p.wide(1, at, bytes);
    p.persist(at);
  }
  template <class Body>
  void operation(Body body) {
    p.opBegin(1);
    body();
    p.opEnd(1);
  }
  DescribedProgram p;
};

TEST_F(Replicas, HeldByACopy) {
  for (std::uint64_t v : {1, 2}) operation([&] { write(64, v), copy(128, v); });
  Phases phases = p.check(kTwo);
  expectHeld(phases, 2);
  EXPECT_EQ(phases.tags[StoreNo(1)].phase, Phase::Primary);
  EXPECT_EQ(phases.tags[StoreNo(4)].phase, Phase::Secondary);
}

TEST_F(Replicas, HeldFieldByField) {
  for (std::uint64_t v : {1, 2}) operation([&] { write(64, v), write(128, v); });
  expectHeld(p.check(kTwo), 2);
}

TEST_F(Replicas, SecondaryBeforeThePrimaryIsDurable) {
  operation([&] { write(64, 1, false), copy(128, 1), p.persist(64); });
  expectBroken(p.check(kTwo), Rule::Order, Phase::Primary, Phase::Secondary);
}

TEST_F(Replicas, SecondaryFirst) {
  operation([&] { copy(128, 1), write(64, 1); });
  expectBroken(p.check(kTwo), Rule::Order, Phase::Primary, Phase::Secondary);
}

TEST_F(Replicas, ContentsDiffer) {
  operation([&] { write(64, 1), copy(128, 2); });
  operation([&] { write(64, 3), copy(128, 3); });
  expectBroken(p.check(kTwo), Rule::CopiesDiffer, Phase::Primary, Phase::Secondary);
}

TEST_F(Replicas, SecondaryNotWritten) {
  operation([&] { write(64, 1); });
  operation([&] { write(64, 2), copy(128, 2); });
  expectBroken(p.check(kTwo), Rule::CopiesDiffer, Phase::Primary, Phase::Secondary);
}

TEST_F(Replicas, ChecksumNotUpdated) {
  operation([&] { write(64, 1, true, false), write(128, 1, true, false); });
  expectBroken(p.check(kTwo), Rule::ChecksumNotUpdated, Phase::Primary);
}

TEST_F(Replicas, SetUpIsInitialisation) {
  write(64, 1);
  operation([&] { write(64, 2), copy(128, 2); });
  Phases phases = p.check(kTwo);
  expectHeld(phases, 1);
  EXPECT_EQ(phases.tags[StoreNo(1)].phase, Phase::Initialise);
}

TEST_F(Replicas, ThreeByMajority) {
  constexpr const char* kThree =
      "[replica.super]\ncopies = [\"&pool.first\", \"&pool.second\", \"&pool.third\"]\nsize = 24\nmajority = true\n";
  operation([&] { write(64, 1), copy(128, 1), copy(192, 1); });
  expectHeld(p.check(kThree), 1);
}

TEST_F(Replicas, ThreeWithTheLastTooEarly) {
  constexpr const char* kThree =
      "[replica.super]\ncopies = [\"&pool.first\", \"&pool.second\", \"&pool.third\"]\nsize = 24\nmajority = true\n";
  operation([&] { write(64, 1), write(128, 1, false), copy(192, 1), p.persist(128); });
  expectBroken(p.check(kThree), Rule::Order, Phase::Secondary, Phase::Secondary);
}

// Objects are judged one by one, also where their updates overlap.
TEST_F(Replicas, OverlappingObjects) {
  constexpr const char* kBoth = "[replica.one]\ncopies = [\"&pair.a\", \"&pair.b\"]\nsize = 8\n";
  DescribedProgram q;
  q.type("pair", 256, {{"id", 0, 8}, {"a", 64, 8}, {"b", 128, 8}});
  for (std::uint64_t base : {512, 1024}) q.setDurable("pair.id", base, 1);
  q.opBegin(1);
  q.set("pair.a", 512 + 64, 5);
  q.set("pair.a", 1024 + 64, 6);
  q.persist(512 + 64);
  q.set("pair.b", 512 + 128, 5);
  q.persist(512 + 128);
  q.persist(1024 + 64);
  q.set("pair.b", 1024 + 128, 6);
  q.persist(1024 + 128);
  q.opEnd(1);
  expectHeld(q.check(kBoth), 2);
}

}  // namespace
}  // namespace blackout::test
