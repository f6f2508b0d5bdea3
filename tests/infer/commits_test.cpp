// Which stores hit instances of guardians, and what is said of them. What is not published yet: publication_test.cpp.
#include <gtest/gtest.h>

#include "commits_program.h"
#include "infer/likely_commits.h"

namespace blackout::test {
namespace {

using Program = CommitsProgram;

std::vector<EventNo> storesOf(const LikelyCommits& found) {
  std::vector<EventNo> stores;
  for (const LikelyCommit& commit : found.commits) stores.push_back(commit.store);
  return stores;
}

LikelyCommits commitsOf(Program& program, std::vector<FieldKey> guardians) {
  return likelyCommits(program.trace(), accessesOf(Program::guardians(std::move(guardians))));
}

using Events = std::vector<EventNo>;

TEST(Commits, StoreOfAFlagThatIsTested) {
  Program p;
  p.test("Slot.valid", 0x108);
  p.store(0x100, 5);  // the value: nobody tests it
  const EventNo flag = p.store(0x108, 1);
  p.read(0x100);
  const LikelyCommits found = commitsOf(p, {"Slot.valid"});
  EXPECT_EQ(found.commits, (std::vector<LikelyCommit>{{flag, "Slot.valid", false}}));
  EXPECT_EQ(found.instances, (std::vector<GuardianInstance>{{p.at(0x108), 8, "Slot.valid"}}));
  EXPECT_EQ(found.loads, 2u);
  EXPECT_EQ(found.stores, 2u);
  EXPECT_EQ(found.toGuardians.size(), 1u);
  EXPECT_EQ(found.published.size(), 2u);
}

TEST(Commits, ReadOfAnotherFieldNamesNoInstance) {
  Program p;
  p.read(0x100);
  p.store(0x100, 1);
  EXPECT_TRUE(commitsOf(p, {"Slot.valid"}).commits.empty());
}

// A guardian that only a restart reads is known by what the code that sets it stores.
TEST(Commits, GuardianThatTheTraceNeverTests) {
  Program p;
  p.store(0x100, 5, 8, "Log.entry");
  const EventNo tail = p.store(0x200, 1, 8, "Log.tail");
  const EventNo other = p.store(0x200, 2);
  p.test("Slot.valid", 0x300);
  p.store(0x308, 1, 8, "Slot.valid");  // tested elsewhere, so not here
  Guardians guardians = Program::guardians({"Log.tail", "Slot.valid"});
  for (Guardian& guardian : guardians.guardians) guardian.writes = {Program::sourceOf(guardian.field)};
  guardians.guardians[0].reads.clear();
  const LikelyCommits found = likelyCommits(p.trace(), accessesOf(guardians));
  EXPECT_EQ(found.commits, (std::vector<LikelyCommit>{{tail, "Log.tail", false}, {other, "Log.tail", false}}));
}

// A copy of a whole struct sets all its fields; it says less than a store of the field.
TEST(Commits, GuardianThatIsOnlyCopied) {
  for (bool storedToo : {false, true}) {
    Program p;
    const EventNo copy = p.store(0x100, 5, 8, "Entry"), more = p.store(0x108, 5, 8, "Entry");
    const EventNo alone = storedToo ? p.store(0x208, 5, 8, "Entry.valid") : 0;
    Guardians guardians = Program::guardians({"Entry.valid"});
    guardians.guardians[0].reads.clear();
    guardians.guardians[0].writes = {Program::sourceOf("Entry"), Program::sourceOf("Entry.valid")};
    EXPECT_EQ(storesOf(likelyCommits(p.trace(), accessesOf(guardians))),
              storedToo ? Events{alone} : (Events{copy, more}));
  }
}

TEST(Commits, ReadThatComesAfterTheStore) {
  Program p;
  const EventNo flag = p.store(0x108, 1);
  p.test("Slot.valid", 0x108);
  EXPECT_EQ(storesOf(commitsOf(p, {"Slot.valid"})), Events{flag});
}

// Memory that is there from the start and is never led to by a pointer.
TEST(Commits, SlotOfZeroedMemory) {
  Program p;
  Events flags;
  for (std::uint64_t slot = 0x1000; slot < 0x1400; slot += 0x40) {
    p.store(slot + 8, 7);
    flags.push_back(p.store(slot, 1));
  }
  for (std::uint64_t slot = 0x1000; slot < 0x1400; slot += 0x40) p.test("Slot.valid", slot);
  EXPECT_EQ(storesOf(commitsOf(p, {"Slot.valid"})), flags);
}

TEST(Commits, NarrowStoresHitWhatTheyOverlap) {
  Program p;
  p.test("Slot.bits", 0x104, 4);
  p.store(0x100, 1, 4);
  const EventNo first = p.store(0x104, 1, 1), last = p.store(0x107, 1, 1);
  p.store(0x108, 1, 1);
  const EventNo wide = p.store(0x100, 1, 8);
  EXPECT_EQ(storesOf(commitsOf(p, {"Slot.bits"})), (Events{first, last, wide}));
}

// A copy is recorded as pieces.
TEST(Commits, EachPieceOfACopyCounts) {
  Program p;
  p.test("Slot.valid", 0x110);
  p.test("Slot.more", 0x13c, 4);
  p.writer().store(EventKind::StoreNt, 1, p.at(0x100), std::string(64, 'x'));
  const LikelyCommits found = commitsOf(p, {"Slot.valid", "Slot.more"});
  EXPECT_EQ(found.stores, 8u);
  ASSERT_EQ(found.commits.size(), 2u);
  EXPECT_EQ(found.commits[0].guardian, "Slot.valid");
  EXPECT_EQ(found.commits[1].guardian, "Slot.more");
}

TEST(Commits, WideReadsKeepTheirBytes) {
  Program p;
  p.testRange("Log.sum", 0x200, 100);
  const EventNo inside = p.store(0x260, 1, 4);
  p.store(0x264, 1, 4);
  const LikelyCommits found = commitsOf(p, {"Log.sum"});
  EXPECT_EQ(storesOf(found), Events{inside});
  EXPECT_EQ(found.instances, (std::vector<GuardianInstance>{{p.at(0x200), 100, "Log.sum"}}));
}

// Of several instances the smallest names the store, wherever it lies in the larger one.
TEST(Commits, SmallestInstanceNamesTheStore) {
  Program p;
  p.testRange("Log", 0x200, 0x100);
  p.test("Log.tail", 0x240);
  p.test("Log.also", 0x240);
  p.store(0x238, 1);
  p.store(0x240, 1);
  p.store(0x248, 1);
  std::vector<FieldKey> names;
  for (const LikelyCommit& commit : commitsOf(p, {"Log", "Log.tail", "Log.also"}).commits)
    names.push_back(commit.guardian);
  EXPECT_EQ(names, (std::vector<FieldKey>{"Log", "Log.also", "Log"}));
}

TEST(Commits, LockedInstructions) {
  Program p;
  p.test("Slot.state", 0x208);
  const EventNo alone = p.rmw(0x200, 1);
  const EventNo both = p.rmw(0x208, 1);
  const LikelyCommits found = commitsOf(p, {"Slot.state"});
  EXPECT_EQ(found.commits, (std::vector<LikelyCommit>{{alone, "", true}, {both, "Slot.state", true}}));
  EXPECT_EQ(found.toGuardians.size(), 2u);
}

// A compare-and-swap is the deciding read itself.
TEST(Commits, LockedInstructionThatDecides) {
  Program p;
  p.rmw(0x200, 1, "Slot.state");
  const EventNo unlock = p.store(0x200, 0);
  const LikelyCommits found = commitsOf(p, {"Slot.state"});
  ASSERT_EQ(found.commits.size(), 2u);
  EXPECT_EQ(found.commits[0].guardian, "Slot.state");
  EXPECT_EQ(found.commits[1], (LikelyCommit{unlock, "Slot.state", false}));
}

TEST(Commits, InitialisationIsNoCommit) {
  Program p;
  p.test("Node.count", 0x1008);
  p.test("Root.head", 0x40);
  p.store(0x1000, 5);
  p.store(0x1008, 1);  // hits an instance, before the node is linked
  p.rmw(0x1010, 1);    // so does a locked instruction
  const EventNo link = p.store(0x40, Program::pointer(0x1000));
  const EventNo after = p.store(0x1008, 2);
  const LikelyCommits found = commitsOf(p, {"Node.count", "Root.head"});
  EXPECT_EQ(storesOf(found), (Events{link, after}));
  EXPECT_EQ(found.stores, 5u);
  EXPECT_EQ(found.toGuardians.size(), 4u);
  EXPECT_EQ(found.published.size(), 2u);
}

// An access inside a member of std::atomic has one id for all its callers: the caller tells them apart.
TEST(Commits, AccessesInsideWrappersAreToldApart) {
  auto inWrapper = [](std::uint32_t line) {
    Source source;
    source.id = 42;
    source.chain = {{"_ZNSt6atomicIlE4loadEv", "atomic", 500, 1, 0}, {"f", "/src/map.cpp", line, 3, 0}};
    return source;
  };
  Program p;
  for (std::uint32_t line : {60u, 80u}) {
    Site site;
    site.id = 42;
    site.kind = SiteKind::Load;
    site.size = 8;
    site.sources = {inWrapper(line)};
    p.writer().event(EventKind::Load, 1, p.at(line * 8), 0, 8, p.writer().where(p.writer().site(site)));
  }
  const EventNo tested = p.store(480, 1);
  p.store(640, 1);
  Guardians guardians = Program::guardians({"Slot.valid"});
  guardians.guardians[0].reads = {inWrapper(60)};
  EXPECT_EQ(storesOf(likelyCommits(p.trace(), accessesOf(guardians))), Events{tested});
}

// One that an optimiser merged is a read at each of its places.
TEST(Commits, SitesWithSeveralSources) {
  Program p;
  Site site;
  site.id = 7;
  site.kind = SiteKind::Load;
  site.size = 8;
  site.sources = {Program::sourceOf("Other.x"), Program::sourceOf("Slot.valid")};
  p.writer().event(EventKind::Load, 1, p.at(0x100), 0, 8, p.writer().where(p.writer().site(site)));
  const EventNo flag = p.store(0x100, 1);
  EXPECT_EQ(storesOf(commitsOf(p, {"Slot.valid"})), Events{flag});
}

TEST(Commits, Reasons) {
  const Guardians guardians = Program::guardians({"Slot.valid"});
  EXPECT_EQ(reasonOf(LikelyCommit{1, "Slot.valid", false}, accessesOf(guardians)),
            "sets Slot.valid: map.cpp:20 tests Slot.valid before map.cpp:20 reads Node.value");
  EXPECT_EQ(reasonOf(LikelyCommit{1, "Slot.valid", true}, accessesOf(guardians)),
            "sets Slot.valid by a locked instruction: map.cpp:20 tests Slot.valid before map.cpp:20 reads Node.value");
  EXPECT_EQ(reasonOf(LikelyCommit{1, "", true}, accessesOf(guardians)), "is a locked instruction");
  EXPECT_EQ(reasonOf(LikelyCommit{1, "Gone.field", false}, accessesOf(guardians)), "sets Gone.field");
}

}  // namespace
}  // namespace blackout::test
