// Copy-on-write: one page, a tree of which a path is copied, numbers that stand for areas.
#include "described_program.h"

namespace blackout::test {
namespace {

using Phase = MechanismPhase;
using Rule = MechanismRule;

constexpr const char* kPage = "[cow.page]\npointer = \"pool.page\"\nsize = \"sizeof(page)\"\n";
constexpr const char* kTree =
    "[cow.tree]\npointer = \"pool.page\"\nsize = \"sizeof(page)\"\nlinks = [\"page.left\", \"page.right\"]\n";

class Cow : public ::testing::Test {
 protected:
  void SetUp() override {
    p.type("pool", 64, {{"page", 0, 8}});
    p.type("page", 64, {{"value", 0, 8}, {"left", 8, 8}, {"right", 16, 8}});
    write(512, 1);
    swap(512);
  }
  EventNo write(std::uint64_t at, std::uint64_t value, bool durable = true, std::uint64_t left = 0,
                std::uint64_t right = 0) {
    EventNo n = p.set("page.value", at, value);
    p.set("page.left", at + 8, left);
    p.set("page.right", at + 16, right);
    if (durable) p.persist(at);
    return n;
  }
  void swap(std::uint64_t to) { p.setDurable("pool.page", 0, to); }
  template <class Body>
  void operation(Body body) {
    p.opBegin(1);
    body();
    p.opEnd(1);
  }
  DescribedProgram p;
};

TEST_F(Cow, Held) {
  EventNo built = 0;
  operation([&] { built = write(1024, 2), swap(1024); });
  operation([&] { write(512, 3), swap(512); });  // the first page is free again
  Phases phases = p.check(kPage);
  expectHeld(phases, 2);
  EXPECT_EQ(p.phaseOf(phases, built), Phase::Build);
  EXPECT_TRUE(p.isProtected(phases, built));
}

TEST_F(Cow, SwappedBeforeItIsDurable) {
  operation([&] { write(1024, 2, false), swap(1024), p.persist(1024); });
  expectBroken(p.check(kPage), Rule::Order, Phase::Build, Phase::Swap);
}

TEST_F(Cow, SwappedBeforeItIsComplete) {
  operation([&] { write(1024, 2), swap(1024), p.setDurable("page.value", 1024, 3); });
  expectBroken(p.check(kPage), Rule::Order, Phase::Build, Phase::Swap);
}

TEST_F(Cow, ChangedInPlace) {
  operation([&] { p.setDurable("page.value", 512, 9); });
  expectBroken(p.check(kPage), Rule::ChangedInPlace, Phase::Build);
}

TEST_F(Cow, TreeHeld) {
  // A new root over the old one, and then the path to a leaf anew.
  operation([&] { write(1024, 2), write(1088, 3, true, 512, 1024), swap(1088); });
  operation([&] { write(1152, 4), write(1216, 5, true, 512, 1152), swap(1216); });
  // 1024 and 1088 lead nowhere any more: they may be used again.
  operation([&] { write(1024, 6), write(1088, 7, true, 1024, 1152), swap(1088); });
  expectHeld(p.check(kTree), 3);
}

TEST_F(Cow, LeafOfTheTreeNotDurable) {
  operation([&] { write(1024, 2, false), write(1088, 3, true, 512, 1024), swap(1088), p.persist(1024); });
  expectBroken(p.check(kTree), Rule::Order, Phase::Build, Phase::Swap);
}

TEST_F(Cow, LeafOfTheTreeChangedInPlace) {
  operation([&] { write(1024, 2), write(1088, 3, true, 512, 1024), swap(1088); });
  operation([&] { p.setDurable("page.value", 1024, 9); });
  expectBroken(p.check(kTree), Rule::ChangedInPlace, Phase::Build);
}

}  // namespace
}  // namespace blackout::test
