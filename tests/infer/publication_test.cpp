// Which stores initialise what is published later: each test has a twin in it that isn't, so that it fails without
// its rule.
#include "infer/publication.h"

#include <gtest/gtest.h>

#include "commits_program.h"

namespace blackout::test {
namespace {

using Program = CommitsProgram;
using Events = std::vector<EventNo>;

constexpr std::uint64_t kHead = 0x10;  // in the pool's first line
constexpr std::uint64_t kA = 0x1000, kB = 0x2000, kC = 0x3000;

std::uint64_t to(std::uint64_t offset) { return Program::pointer(offset); }

TEST(Publication, NodeBeforeItIsLinked) {
  Program p;
  const EventNo key = p.store(kA, 5), value = p.store(kA + 8, 6);
  p.store(kHead, to(kA));
  p.store(kA + 8, 7);
  EXPECT_EQ(initialisingStores(p.trace()), (Events{key, value}));
}

TEST(Publication, NodeThatIsNeverLinked) {
  Program p;
  p.store(kA, 5);
  p.store(kHead, 5);
  EXPECT_TRUE(initialisingStores(p.trace()).empty());
}

// The second one is led to by the first only, which nothing leads to before the last store.
TEST(Publication, Transitive) {
  Program p;
  const EventNo a = p.store(kA, 5);
  const EventNo link = p.store(kA + 8, to(kB));
  const EventNo b = p.store(kB, 6);
  const EventNo b2 = p.store(kB + 8, 7);
  p.store(kHead, to(kA));
  p.store(kB, 8);
  EXPECT_EQ(initialisingStores(p.trace()), (Events{a, link, b, b2}));
}

// Memory that no pointer leads to is a root wherever it lies.
TEST(Publication, RootsBehindTheFirstLine) {
  Program p;
  const EventNo a = p.store(kA, 5);
  p.store(0x8000, to(kA));
  p.store(kA, 6);
  EXPECT_EQ(initialisingStores(p.trace()), Events{a});
}

TEST(Publication, UsedAgainAfterItWasUnlinked) {
  Program p;
  const EventNo first = p.store(kA, 5);
  p.store(kHead, to(kA));
  p.store(kA, 6);
  p.store(kHead, 0);
  const EventNo second = p.store(kA, 7);
  p.store(kHead, to(kA));
  p.store(kA, 8);
  EXPECT_EQ(initialisingStores(p.trace()), (Events{first, second}));
}

TEST(Publication, StillLinkedElsewhere) {
  Program p;
  const EventNo first = p.store(kA, 5);
  p.store(kHead, to(kA));
  p.store(kHead + 8, to(kA));
  p.store(kHead, 0);
  p.store(kA, 6);
  p.store(kHead, to(kA));
  EXPECT_EQ(initialisingStores(p.trace()), Events{first});
}

TEST(Publication, FromAFreeList) {
  Program p;
  // Three blocks in a list: the head of the free list leads to them.
  Events expected = {p.store(kB, to(kA)), p.store(kC, to(kB))};
  p.store(kHead, to(kC));
  p.store(kHead, to(kB));              // C is taken
  expected.push_back(p.store(kC, 0));  // overwrites its link
  expected.push_back(p.store(kC + 8, 5));
  p.store(kHead + 8, to(kC));
  p.store(kC + 8, 6);
  p.store(kB + 8, 9);  // one that is in the list is not its own
  EXPECT_EQ(initialisingStores(p.trace()), expected);
}

TEST(Publication, PopLeavesTheRestLinked) {
  Program p;
  Events expected = {p.store(kA, 1), p.store(kB, 2), p.store(kB + 8, to(kA))};
  p.store(kHead, to(kB));
  p.store(kHead, to(kA));  // B is gone, and its link counts no more
  p.store(kA, 3);
  expected.push_back(p.store(kB, 4));
  p.store(kHead + 8, to(kB));
  p.store(kHead, 0);
  p.store(kA, 5);  // B leads to it still
  p.store(kHead, to(kA));
  EXPECT_EQ(initialisingStores(p.trace()), expected);
}

TEST(Publication, PointersToItselfDoNotLeadThere) {
  Program p;
  Events expected = {p.store(kA, to(kA)), p.store(kA + 8, 5)};
  p.store(kHead, to(kA));
  p.store(kHead, 0);
  expected.push_back(p.store(kA + 8, 6));
  p.store(kHead, to(kA));
  EXPECT_EQ(initialisingStores(p.trace()), expected);
}

TEST(Publication, TaggedPointers) {
  for (std::uint64_t tag :
       {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{0xabcd} << 48, std::uint64_t{3} << 62 | 2}) {
    Program p;
    const EventNo a = p.store(kA, 5);
    p.store(kHead, to(kA) | tag);
    p.store(kA, 6);
    EXPECT_EQ(initialisingStores(p.trace()), Events{a}) << std::hex << tag;
  }
}

TEST(Publication, NumbersAreNoPointers) {
  Program p;
  p.store(kA, 5);
  p.store(kHead, to(kA) + (std::uint64_t{1} << 32));  // just outside of the mapping
  p.store(kHead, 0x12345);
  EXPECT_TRUE(initialisingStores(p.trace()).empty());
}

TEST(Publication, Offsets) {
  Program p;
  const EventNo a = p.store(kA, 5), a2 = p.store(kA + 8, 6);
  p.store(kHead, kA, 8, "Root.head");
  p.store(kA, 7);
  EXPECT_EQ(initialisingStores(p.trace()), (Events{a, a2}));
}

TEST(Publication, OffsetOfNothingThatWasWritten) {
  Program p;
  p.store(kA, 5);
  p.store(kHead, kA + 8, 8, "Root.head");
  EXPECT_TRUE(initialisingStores(p.trace()).empty());
}

// The same instruction stores numbers that are no offsets: it counts.
TEST(Publication, CountersThatHappenToBeOffsets) {
  for (std::uint64_t other : {1, 0x20, 0x1004, 0x5000}) {
    Program p;
    p.store(0x20, 5);
    p.store(kA, 5);
    p.store(kHead, other, 8, "Ring.tail");
    p.store(kHead, kA, 8, "Ring.tail");
    EXPECT_TRUE(initialisingStores(p.trace()).empty()) << other;
  }
}

// Pools that know offsets only often have their own address in their header.
TEST(Publication, OffsetsInAPoolThatKnowsItsAddress) {
  Program p;
  p.store(8, to(0));
  const EventNo a = p.store(kA, 5);
  p.store(kHead, kA, 8, "Root.head");
  EXPECT_EQ(initialisingStores(p.trace()), Events{a});
}

// A number from before the recording leads by offset only to what was there, too.
TEST(Publication, OffsetsFromBefore) {
  auto before = [](bool withTarget) {
    std::string bytes(0x1100, '\0');
    const std::uint64_t offset = kA;
    bytes.replace(0x18, 8, reinterpret_cast<const char*>(&offset), 8);
    bytes[kA] = withTarget ? 5 : 0;
    return bytes;
  };
  for (bool withTarget : {false, true}) {
    Program p(before(withTarget));
    const EventNo a = p.store(kA, 6);
    p.store(kHead, kA, 8, "Root.head");
    EXPECT_EQ(initialisingStores(p.trace()), withTarget ? Events{} : Events{a});
  }
}

TEST(Publication, SmallOffsetsAreNumbers) {
  Program p;
  p.store(0x20, 5);
  p.store(kHead, 0x20, 8, "Root.head");
  p.store(0x20, 6);
  EXPECT_TRUE(initialisingStores(p.trace()).empty());
}

// Where pointers are addresses, a number that is also an offset is a number.
TEST(Publication, NoOffsetsAmongAddresses) {
  Program p;
  p.store(kB, 5);
  p.store(kHead + 8, kB, 8, "Root.size");
  const EventNo a = p.store(kA, 5);
  p.store(kHead, to(kA));
  EXPECT_EQ(initialisingStores(p.trace()), Events{a});
}

TEST(Publication, PointersInHalves) {
  Program p;
  const EventNo a = p.store(kA, 5, 2);
  p.store(kHead, to(kA) & 0xffffffff, 4);
  const EventNo still = p.store(kA + 3, 6, 1);
  p.store(kHead + 4, to(kA) >> 32, 4);
  p.store(kA, 7, 2);
  EXPECT_EQ(initialisingStores(p.trace()), (Events{a, still}));
}

TEST(Publication, LockedInstructionPublishes) {
  Program p;
  const EventNo a = p.store(kA, 5), locked = p.rmw(kA + 8, 6);
  p.rmw(kHead, to(kA));
  p.rmw(kA + 8, 7);
  EXPECT_EQ(initialisingStores(p.trace()), (Events{a, locked}));
}

TEST(Publication, GapsOfALine) {
  Program p;
  const EventNo a = p.store(kA, 5), near = p.store(kA + 8 + 64, 6);
  p.store(kA + 8 + 64 + 8 + 72, 7);
  p.store(kHead, to(kA));
  EXPECT_EQ(initialisingStores(p.trace()), (Events{a, near}));
}

// A root in front of the first object is not part of it.
TEST(Publication, NothingBeforeThePointer) {
  Program p;
  p.store(kA - 8, 1);
  const EventNo a = p.store(kA, 5);
  p.store(kHead, to(kA));
  EXPECT_EQ(initialisingStores(p.trace()), Events{a});
}

// Behind the last object there is another field of the struct that the pool begins with.
TEST(Publication, FieldsOfTheRootAreNoObjects) {
  Program p;
  p.store(0, 1, 8, "Root.magic");
  const EventNo a = p.store(kA, 5, 8, "Node.key");
  p.store(kA + 8, 1, 8, "Root.state");
  p.store(kHead, to(kA), 8, "Root.head");
  p.store(kA + 8, 0, 8, "Root.state");
  EXPECT_EQ(initialisingStores(p.trace()), Events{a});
}

// A struct that is in the first line and elsewhere too, such as the sentinel of a list, is not the root's alone.
TEST(Publication, StructsOfTheRootThatPointersLeadTo) {
  Program p;
  p.store(8, 1, 8, "Node.key");
  const EventNo a = p.store(kA, 5, 8, "Node.key"), a2 = p.store(kA + 8, 5, 8, "Node.key");
  p.store(kHead, to(kA), 8, "Node.next");
  EXPECT_EQ(initialisingStores(p.trace()), (Events{a, a2}));
}

// The same memory first as two objects, then as one: the pointer to the second is no longer there.
TEST(Publication, OtherSizesInTheSameMemory) {
  Program p;
  Events expected = {p.store(kA, 1), p.store(kA + 8, 2)};
  p.store(kHead, to(kA));
  p.store(kHead + 8, to(kA + 8));
  p.store(kHead, 0);
  p.store(kHead + 8, 0);
  expected.push_back(p.store(kA, 3));
  expected.push_back(p.store(kA + 8, to(kB)));
  expected.push_back(p.store(kB, 4));
  p.store(kHead, to(kA));
  p.store(kA + 8, to(kB) + 1);
  p.store(kB, 5);
  EXPECT_EQ(initialisingStores(p.trace()), expected);
}

// As before, where the pointer to the second still stands in an object that is no longer linked.
TEST(Publication, OldPointersMakeNoObject) {
  Program p;
  Events expected = {p.store(kA + 8, 2), p.store(kB, to(kA + 8))};
  p.store(kHead, to(kB));
  p.store(kHead, 0);
  expected.push_back(p.store(kA, 3));
  expected.push_back(p.store(kA + 8, 4));
  p.store(kHead, to(kA));
  EXPECT_EQ(initialisingStores(p.trace()), expected);
}

// The head of a list inside an object leads to itself while the list is empty.
TEST(Publication, InnerPartThatLeadsToItself) {
  Program p;
  const EventNo a = p.store(kA, 1), inner = p.store(kA + 8, to(kA + 8));
  p.store(kHead, to(kA));
  EXPECT_EQ(initialisingStores(p.trace()), (Events{a, inner}));
}

// Pointers back to a pool's header make no object of it and of what lies behind it.
TEST(Publication, FirstLineIsARoot) {
  Program p;
  p.store(8, 1);
  p.store(0x40, 2);
  const EventNo a = p.store(kA, to(8));
  p.store(kHead, to(kA));
  p.store(0x40, 3);
  EXPECT_EQ(initialisingStores(p.trace()), Events{a});
}

// Two new objects side by side, of which one leads to the other: each is its own.
TEST(Publication, NeighboursThatAreObjectsOfTheirOwn) {
  Program p;
  Events expected = {p.store(kA + 8, 2), p.store(kA, to(kA + 8))};
  p.store(kHead, to(kA));
  p.store(kHead + 8, to(kA + 8));
  p.store(kHead, 0);
  p.store(kA + 8, 3);
  expected.push_back(p.store(kA, 4));
  p.store(kHead, to(kA));
  EXPECT_EQ(initialisingStores(p.trace()), expected);
}

TEST(Publication, ContentFromBefore) {
  std::string before(0x1100, '\0');
  const std::uint64_t leads = to(kA);
  before.replace(kHead, 8, reinterpret_cast<const char*>(&leads), 8);
  before[kA] = 5;
  Program p(before);
  p.store(kA, 6);  // published before the recording
  p.store(kHead, 0);
  const EventNo again = p.store(kA, 7);
  p.store(kHead, to(kA));
  EXPECT_EQ(initialisingStores(p.trace()), Events{again});
}

// Content that leads from object to object: each link counts once.
TEST(Publication, ChainsFromBefore) {
  std::string before(0x3100, '\0');
  auto put = [&](std::uint64_t at, std::uint64_t value) {
    before.replace(at, 8, reinterpret_cast<const char*>(&value), 8);
  };
  put(kHead, to(kC));
  put(kC, to(kB));
  put(kB, to(kA));
  put(kA, 5);
  Program p(before);
  p.store(kHead, 0);
  const Events expected = {p.store(kA, 6), p.store(kB, 0), p.store(kC + 8, 7)};
  p.store(kHead, to(kA));
  p.store(kHead, to(kB));
  p.store(kHead, to(kC));
  p.store(kC, 8);
  EXPECT_EQ(initialisingStores(p.trace()), expected);
}

TEST(Publication, HolesLeadNowhere) {
  Program p;
  Events expected = {p.store(kA, 5)};
  p.store(0x8000, to(kA));
  p.writer().event(EventKind::FileZero, 1, p.at(0x8000), 64);
  expected.push_back(p.store(kA, 6));
  p.store(0x8000, to(kA));
  p.store(kA, 7);
  EXPECT_EQ(initialisingStores(p.trace()), expected);
}

TEST(Publication, WhatIsCutOffAFileLeadsNowhere) {
  Program p;
  Events expected = {p.store(kA, 5)};
  p.store(0x80000, to(kA));
  p.writer().event(EventKind::FileSize, 1, p.at(0), 0x40000);
  p.writer().event(EventKind::FileSize, 1, p.at(0), Program::kSize);
  expected.push_back(p.store(kA, 6));
  p.store(kHead, to(kA));
  EXPECT_EQ(initialisingStores(p.trace()), expected);
}

TEST(Publication, RemovedFilesLeadNowhere) {
  Program p;
  const FileNo other = p.anotherPool();
  Events expected = {p.store(kA, 5)};
  p.writer().event(EventKind::Store, 1, pmAddr(other, 0x10), to(kA), 8);
  p.writer().event(EventKind::FileUnlink, 1, pmAddr(other, 0));
  expected.push_back(p.store(kA, 6));
  p.store(kHead, to(kA));
  EXPECT_EQ(initialisingStores(p.trace()), expected);
}

// An address means what is mapped there at the time.
TEST(Publication, AnotherPoolAtTheSameAddress) {
  Program p;
  const FileNo other = p.anotherPool();
  auto storeThere = [&](std::uint64_t offset, std::uint64_t value) {
    return p.writer().event(EventKind::Store, 1, pmAddr(other, offset), value, 8);
  };
  Events expected = {p.store(kA, 5)};
  storeThere(kA, 5);
  p.store(kHead, to(kA));
  p.map(Program::kBase, other);
  p.store(kB, 5);
  expected.push_back(storeThere(kB, 6));
  storeThere(kHead, to(kB));
  EXPECT_EQ(initialisingStores(p.trace()), expected);
}

// Content is read before the first mapping, and means that one.
TEST(Publication, ContentFromBeforeAnotherPoolAtTheSameAddress) {
  std::string before(0x1100, '\0');
  const std::uint64_t leads = to(kA);
  before.replace(kHead, 8, reinterpret_cast<const char*>(&leads), 8);
  Program p(before);
  p.store(kA, 5);
  p.store(kHead + 8, to(kA));
  p.map(Program::kBase, p.anotherPool());
  EXPECT_EQ(initialisingStores(p.trace()), Events{});
}

TEST(Publication, MappedElsewhereLater) {
  Program p;
  const EventNo a = p.store(kA, 5);
  p.store(kHead, to(kA));
  p.map(Program::kBase + 0x10000000);
  const EventNo b = p.store(kB, 5);
  p.store(kHead + 8, to(kB) + 0x10000000);
  EXPECT_EQ(initialisingStores(p.trace()), (Events{a, b}));
}

// Blocks are exact: longer gaps than a line, pointers to the inside only, and neighbours.
TEST(Publication, AllocatedBlocks) {
  Program p;
  auto allocate = [&](std::uint64_t at, std::uint64_t size) { p.writer().event(EventKind::Alloc, 1, to(at), size); };
  p.store(kA + 512, 9);  // before it was allocated
  allocate(kA, 1024);
  allocate(kA + 1024, 64);
  Events expected = {p.store(kA, 5), p.store(kA + 512, 6)};
  p.store(kA + 1024, 7);  // the neighbour's
  p.store(kHead, to(kA + 512));
  p.store(kA, 8);
  EXPECT_EQ(initialisingStores(p.trace()), expected);
}

TEST(Publication, FreedBlocks) {
  Program p;
  p.writer().event(EventKind::Alloc, 1, to(kA), 256);
  p.store(kA, 5);  // never linked in its first life
  p.writer().event(EventKind::Free, 1, to(kA));
  p.writer().event(EventKind::Alloc, 1, to(kA), 256);
  const EventNo a = p.store(kA, 6), end = p.store(kA + 248, 6);
  p.store(kHead, to(kA));
  EXPECT_EQ(initialisingStores(p.trace()), (Events{a, end}));
}

TEST(Publication, FreedBlocksAreNoBlocks) {
  Program p;
  p.writer().event(EventKind::Alloc, 1, to(kA), 256);
  p.writer().event(EventKind::Free, 1, to(kA));
  p.writer().event(EventKind::Alloc, 1, to(kA), 64);
  p.store(kA, 5);
  const EventNo other = p.store(kA + 192, 6);
  p.store(kHead, to(kA + 192));
  EXPECT_EQ(initialisingStores(p.trace()), Events{other});
}

// A block that no pointer leads to is found in another way: it is a root.
TEST(Publication, BlocksThatNothingLeadsTo) {
  Program p;
  p.writer().event(EventKind::Alloc, 1, to(kA), 64);
  const EventNo b = p.store(kB, 5);
  p.store(kA, to(kB));
  p.store(kB, 6);
  p.store(kHead, to(kB));
  EXPECT_EQ(initialisingStores(p.trace()), Events{b});
}

// What an operation publishes it has filled itself.
TEST(Publication, OnlyStoresOfTheSameOperation) {
  Program p;
  auto begin = [&](ThreadNo thread = 1) { p.writer().blob(EventKind::OpBegin, thread, 0, "put"); };
  auto end = [&](ThreadNo thread = 1) { p.writer().event(EventKind::OpEnd, thread); };
  p.store(kA, 1);  // before the first operation
  begin();
  p.store(kA + 8, 2);
  end();
  p.store(kA + 16, 3);  // between two
  begin();
  const EventNo outer = p.store(kA + 24, 4);
  begin();
  const EventNo inner = p.store(kA + 40, 4);
  end();
  begin(2);
  p.writer().event(EventKind::Store, 2, p.at(kA + 32), 5, 8);  // of another thread
  end(2);
  p.store(kHead, to(kA));
  end();
  EXPECT_EQ(initialisingStores(p.trace()), (Events{outer, inner}));
}

// Threads share their work only where no operations say whose it is.
TEST(Publication, FilledByOneThreadAndPublishedByAnother) {
  for (bool marked : {false, true}) {
    Program p;
    const EventNo a = p.writer().event(EventKind::Store, 2, p.at(kA), 5, 8);
    p.store(kHead, to(kA));
    if (marked) p.writer().blob(EventKind::OpBegin, 1, 0, "put");
    EXPECT_EQ(initialisingStores(p.trace()), marked ? Events{} : Events{a});
  }
}

// Setup is no operation, but what it makes is made in one go.
TEST(Publication, SetupBeforeTheFirstOperation) {
  Program p;
  const EventNo a = p.store(kA, 1);
  p.store(kHead, to(kA));
  p.writer().blob(EventKind::OpBegin, 1, 0, "put");
  EXPECT_EQ(initialisingStores(p.trace()), Events{a});
}

// The limit is loose: slow would be minutes.
// Long chains: nothing is lost of them, and their work in proportion to them is what the time limit of ctest allows.
TEST(Publication, LongChains) {
  Program p;
  constexpr std::uint64_t kNodes = 8000;
  // A list that grows at its head, and a tree of words that all lead to one object.
  for (std::uint64_t n = 0; n < kNodes; ++n) {
    const std::uint64_t node = 0x1000 + n * 64;
    for (std::uint64_t word = 0; word < 8; ++word) p.store(node + word * 8, word);
    p.store(node, n == 0 ? 0 : to(node - 64));
    p.store(kHead, to(node));
  }
  for (std::uint64_t n = 0; n < kNodes; ++n) p.store(kHead, to(0x1000 + (kNodes - 1 - n) * 64));
  EXPECT_EQ(initialisingStores(p.trace()).size(), kNodes * 9);
}

}  // namespace
}  // namespace blackout::test
