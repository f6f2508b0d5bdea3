// Journals: each rule held and broken; preallocated or not, by flag, by value, by generation; the ring's end; several
// at once.
#include "described_program.h"

namespace blackout::test {
namespace {

using Phase = MechanismPhase;
using Rule = MechanismRule;

// The description of the paper: the journal at 64, its entries of 64 bytes from 1024 on, what is changed from 2048 on.
constexpr const char* kPreallocated = R"(
[journal.undo]
head = "journal.base + journal.head"
tail = "journal.base + journal.tail"
area = { at = "journal.base", size = "journal.size" }
entry = { struct = "log_entry", target = "log_entry.addr", size = "log_entry.size", data = "log_entry.data" }
preallocated = true
)";

class Paper : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kJournal = 64, kArea = 1024, kData = 2048;

  void SetUp() override {
    p.type("journal", 32, {{"base", 0, 8}, {"head", 8, 8}, {"tail", 16, 8}, {"size", 24, 8}});
    p.type("log_entry", 64, {{"addr", 0, 8}, {"size", 8, 8}, {"data", 16, 1, 48}});
    p.set("journal.base", kJournal, kArea);
    p.set("journal.size", kJournal + 24, size);
    p.set("journal.head", kJournal + 8, 0);
    p.set("journal.tail", kJournal + 16, 0);
    p.persist(kJournal);
  }
  void allocate(std::uint64_t tail, bool durable = true) {
    p.set("journal.tail", kJournal + 16, tail);
    if (durable) p.persist(kJournal);
  }
  EventNo log(std::uint64_t at, std::uint64_t target, std::uint64_t old, bool durable = true) {
    p.set("log_entry.addr", kArea + at % size, target);
    p.set("log_entry.size", kArea + (at + 8) % size, 8);
    EventNo n = p.set("log_entry.data[]", kArea + (at + 16) % size, old);
    if (durable) {
      p.clwb(1, kArea + at % size);
      p.persist(kArea + (at + 16) % size);
    }
    return n;
  }
  EventNo inPlace(std::uint64_t at, std::uint64_t value, bool durable = true) {
    EventNo n = p.set("item.value", at, value);
    if (durable) p.persist(at);
    return n;
  }
  void reclaim(std::uint64_t head) { p.setDurable("journal.head", kJournal + 8, head); }

  DescribedProgram p;
  std::uint64_t size = 256;
};

TEST_F(Paper, AllRulesHeld) {
  allocate(64);
  EventNo logged = log(0, kData, 0);
  EventNo changed = inPlace(kData, 7);
  EventNo other = p.set("item.value", kData + 64, 1);
  p.persist(kData + 64);
  reclaim(64);
  Phases phases = p.check(kPreallocated);
  expectHeld(phases, 1);
  EXPECT_EQ(p.phaseOf(phases, logged), Phase::Log);
  EXPECT_EQ(p.phaseOf(phases, changed), Phase::InPlace);
  EXPECT_TRUE(p.isProtected(phases, changed));
  EXPECT_EQ(p.phaseOf(phases, other), Phase::None);
  EXPECT_FALSE(p.isProtected(phases, other));
}

TEST_F(Paper, SetUpIsInitialisation) {
  Phases phases = p.check(kPreallocated);
  expectHeld(phases, 0);
  for (const StoreTag& tag : phases.tags) EXPECT_EQ(tag.phase, Phase::Initialise);
}

TEST_F(Paper, TailNotDurableBeforeEntries) {
  allocate(64, false);
  log(0, kData, 0);
  p.persist(kJournal);
  inPlace(kData, 7);
  reclaim(64);
  expectBroken(p.check(kPreallocated), Rule::Order, Phase::Allocate, Phase::Log);
}

// An operation that makes everything, the journal's space and what will be changed later, is no part of the first
// transaction.
TEST_F(Paper, SetUpInAnOperationOfItsOwn) {
  p.opBegin(1, "mkfs");
  for (std::uint64_t at = 0; at < 64; at += 8) p.set("log_entry.data[]", kArea + at, 0);
  p.persist(kArea);
  p.setDurable("item.value", kData, 3);
  p.opEnd(1);
  p.opBegin(1);
  log(0, kData, 3);
  allocate(64);
  inPlace(kData, 7);
  reclaim(64);
  p.opEnd(1);
  std::string counted(kPreallocated);
  counted.erase(counted.find("preallocated"));
  expectHeld(p.check(counted), 1);
}

TEST_F(Paper, InPlaceBeforeItsEntryIsDurable) {
  allocate(64);
  log(0, kData, 0, false);
  EventNo changed = inPlace(kData, 7);
  p.persist(kArea);
  reclaim(64);
  Phases phases = p.check(kPreallocated);
  expectBroken(phases, Rule::Order, Phase::Log, Phase::InPlace);
  EXPECT_FALSE(p.isProtected(phases, changed));
}

TEST_F(Paper, ReclaimedBeforeInPlaceIsDurable) {
  allocate(64);
  log(0, kData, 0);
  inPlace(kData, 7, false);
  reclaim(64);
  p.persist(kData);
  expectBroken(p.check(kPreallocated), Rule::Order, Phase::InPlace, Phase::Reclaim);
}

TEST_F(Paper, EntryOutsideHeadAndTail) {
  allocate(64);
  log(0, kData, 0);
  log(64, kData + 64, 0);
  inPlace(kData, 7);
  reclaim(64);
  expectBroken(p.check(kPreallocated), Rule::OutsideAllocated, Phase::Log, Phase::Allocate);
}

TEST_F(Paper, TailOutsideTheArea) {
  allocate(512);
  Phases phases = p.check(kPreallocated);
  expectBroken(phases, Rule::OutsideArea, Phase::Allocate);
}

TEST_F(Paper, EntryWithoutTheOldBytes) {
  allocate(64);
  log(0, kData, 99);
  inPlace(kData, 7);
  reclaim(64);
  expectBroken(p.check(kPreallocated), Rule::WrongOldBytes, Phase::Log, Phase::InPlace);
}

TEST_F(Paper, LoggedAndNotWritten) {
  allocate(64);
  log(0, kData, 0);
  reclaim(64);
  expectBroken(p.check(kPreallocated), Rule::NeverInPlace, Phase::Log, Phase::Reclaim);
}

TEST_F(Paper, WrapAround) {
  // Four entries fill the ring but one; the fifth is at its beginning again.
  for (std::uint64_t i = 0; i < 6; ++i) {
    allocate((i + 1) * 64 % size);
    log(i * 64, kData + 64 * i, 0);
    inPlace(kData + 64 * i, 7);
    reclaim((i + 1) * 64 % size);
  }
  expectHeld(p.check(kPreallocated), 6);
}

TEST_F(Paper, WrapAroundWithARuleBroken) {
  for (std::uint64_t i = 0; i < 6; ++i) {
    allocate((i + 1) * 64 % size);
    log(i * 64, kData + 64 * i, i == 4 ? 1 : 0);
    inPlace(kData + 64 * i, 7);
    reclaim((i + 1) * 64 % size);
  }
  Phases phases = p.check(kPreallocated);
  expectBroken(phases, Rule::WrongOldBytes, Phase::Log, Phase::InPlace);
  EXPECT_EQ(brokenOf(phases), 1U);
}

// An entry of which a part lies at the ring's end and the rest at its beginning.
class Split : public Paper {
 protected:
  void SetUp() override {
    size = 160;
    Paper::SetUp();
  }
  Phases run(std::uint64_t old) {
    for (std::uint64_t i = 0; i < 3; ++i) {
      allocate((i + 1) * 64 % size);
      std::uint64_t at = i * 64;  // the third begins at 128 and ends at 32
      p.set("log_entry.addr", kArea + at % size, kData + 64 * i);
      p.set("log_entry.size", kArea + (at + 8) % size, 8);
      p.set("log_entry.data[]", kArea + (at + 16) % size, i == 2 ? old : 0);
      p.clwb(1, kArea + at % size);
      p.persist(kArea + (at + 16) % size);
      inPlace(kData + 64 * i, 7);
      reclaim((i + 1) * 64 % size);
    }
    return p.check(kPreallocated);
  }
};

TEST_F(Split, Held) { expectHeld(run(0), 3); }
TEST_F(Split, Broken) { expectBroken(run(5), Rule::WrongOldBytes, Phase::Log, Phase::InPlace); }

TEST_F(Paper, SeveralEntriesAreReclaimedTogether) {
  allocate(128);
  log(0, kData, 0);
  log(64, kData + 64, 0);
  inPlace(kData, 7);
  inPlace(kData + 64, 7);
  reclaim(128);
  Phases phases = p.check(kPreallocated);
  expectHeld(phases, 1);
}

// --- Two journals at once: one for each thread ---

TEST(PerThread, TwoTransactionsAtOnce) {
  auto run = [](bool wrong) {
    DescribedProgram p;
    p.type("lane", 128, {{"valid", 0, 8}, {"place", 64, 8}, {"old", 72, 8}});
    for (std::uint64_t t : {0, 1}) p.set("lane.valid", 128 * t, 0);
    for (std::uint64_t t : {0, 1}) p.persist(128 * t);
    auto step = [&](int what, std::uint64_t t) {
      auto thread = ThreadNo(t + 1);
      switch (what) {
        case 0:
          p.set("lane.place", 128 * t + 64, 2048 + 64 * t, 8, thread);
          p.set("lane.old", 128 * t + 72, 0, 8, thread);
          p.persist(128 * t + 64, thread);
          break;
        case 1:
          p.set("lane.valid", 128 * t, 1, 8, thread);
          if (!(wrong && t == 1)) p.persist(128 * t, thread);
          break;
        case 2:
          p.set("item.value", 2048 + 64 * t, 7, 8, thread);
          p.persist(2048 + 64 * t, thread);
          break;
        case 3:
          p.setDurable("lane.valid", 128 * t, 0, 8, thread);
          break;
      }
    };
    for (int what = 0; what < 4; ++what)
      for (std::uint64_t t : {0, 1}) step(what, t);
    return p.check(R"(
[journal.lanes]
kind = "undo"
area = { at = "&lane.place", size = 16 }
entry = { target = "lane.place", size = 8, data = "lane.old" }
commit = { field = "lane.valid" }
)");
  };
  Phases held = run(false);
  expectHeld(held, 2);
  EXPECT_EQ(held.instances[0], 2U);
  Phases broken = run(true);
  expectBroken(broken, Rule::Order, Phase::Commit, Phase::InPlace);
  EXPECT_EQ(brokenOf(broken), 1U);
}

// --- Several transactions at once in one journal, told by a number in their entries ---

// A ring as above; entries have a number, and a commit record (kind 2) is an entry too. Two operations, each of its own
// thread.
class Numbered : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kJournal = 64, kArea = 1024, kData = 2560, kEntry = 64;

  void start(std::uint64_t space) {
    p.emplace();
    tail = 0;
    size = space;
    p->type("journal", 32, {{"base", 0, 8}, {"head", 8, 8}, {"tail", 16, 8}, {"size", 24, 8}});
    p->type("log_entry", 64, {{"addr", 0, 8}, {"number", 8, 8}, {"kind", 16, 8}, {"data", 24, 8}});
    p->set("journal.base", kJournal, kArea);
    p->set("journal.size", kJournal + 24, size);
    p->set("journal.head", kJournal + 8, 0);
    p->set("journal.tail", kJournal + 16, 0);
    p->persist(kJournal);
  }
  void allocate(ThreadNo t) {
    tail = (tail + kEntry) % size;
    p->setDurable("journal.tail", kJournal + 16, tail, 8, t);
  }
  std::uint64_t log(ThreadNo t, std::uint64_t number, std::uint64_t target, std::uint64_t data, bool durable = true) {
    std::uint64_t at = tail;
    allocate(t);
    auto put = [&](const char* field, std::uint64_t offset, std::uint64_t value) {
      p->set(field, kArea + (at + offset) % size, value, 8, t);
    };
    put("log_entry.addr", 0, target);
    put("log_entry.number", 8, number);
    put("log_entry.kind", 16, 1);
    put("log_entry.data", 24, data);
    if (durable) flush(t, at);
    return at;
  }
  void record(ThreadNo t, std::uint64_t number, bool durable = true) {
    std::uint64_t at = tail;
    allocate(t);
    p->set("log_entry.number", kArea + (at + 8) % size, number, 8, t);
    flush(t, at);
    p->set("log_entry.kind", kArea + (at + 16) % size, 2, 8, t);
    if (durable) flush(t, at);
  }
  void flush(ThreadNo t, std::uint64_t at) {
    p->clwb(t, kArea + at % size);
    p->persist(kArea + (at + 24) % size, t);
  }
  EventNo inPlace(ThreadNo t, std::uint64_t at, std::uint64_t value, bool durable = true) {
    EventNo n = p->set("item.value", at, value, 8, t);
    if (durable) p->persist(at, t);
    return n;
  }
  void reclaim(ThreadNo t, std::uint64_t head) { p->setDurable("journal.head", kJournal + 8, head % size, 8, t); }
  Phases check(const std::string& kind, bool records, bool numbers = true) {
    return p->check("[journal.ring]\nkind = \"" + kind + R"("
head = "journal.base + journal.head"
tail = "journal.base + journal.tail"
area = { at = "journal.base", size = "journal.size" }
entry = { struct = "log_entry", target = "log_entry.addr", size = 8, data = "log_entry.data")" +
                    (numbers ? ", transaction = \"log_entry.number\"" : "") + " }\npreallocated = true\n" +
                    (records ? "commit = { record = \"log_entry.kind\", value = 2 }\n" : ""));
  }

  std::optional<DescribedProgram> p;
  std::uint64_t size = 0;
  std::uint64_t tail = 0;
};

// The second transaction is wrong; the first keeps its protection.
TEST_F(Numbered, OneOfTwoIsBroken) {
  start(512);
  p->opBegin(1);
  p->opBegin(2);
  log(1, 7, kData, 0);
  log(2, 8, kData + 64, 0, false);
  EventNo first = inPlace(1, kData, 1);
  EventNo second = inPlace(2, kData + 64, 1);
  p->persist(kArea + 64, 2);
  reclaim(1, 128);
  p->opEnd(1);
  p->opEnd(2);
  Phases phases = check("undo", false);
  expectBroken(phases, Rule::Order, Phase::Log, Phase::InPlace);
  EXPECT_EQ(phases.transactions.size(), 2U);
  EXPECT_EQ(brokenOf(phases), 1U);
  EXPECT_TRUE(p->isProtected(phases, first));
  EXPECT_FALSE(p->isProtected(phases, second));
}

TEST_F(Numbered, Held) {
  start(512);
  for (std::uint64_t i = 0; i < 3; ++i) {
    log(1, 2 * i, kData, i);
    log(2, 2 * i + 1, kData + 64, i);
    log(1, 2 * i, kData + 128, i);
    inPlace(1, kData, i + 1);
    inPlace(2, kData + 64, i + 1);
    inPlace(1, kData + 128, i + 1);
    reclaim(1, tail);
  }
  expectHeld(check("undo", false), 6);
}

// The head moves over a part of one transaction: what that part is about must be in place; the rest goes on.
TEST_F(Numbered, HeadInTheMiddleOfATransaction) {
  for (bool wrong : {false, true}) {
    start(512);
    log(1, 7, kData, 0);
    log(2, 8, kData + 64, 0);
    log(1, 7, kData + 128, 0);
    inPlace(1, kData, 1, !wrong);
    inPlace(2, kData + 64, 1);
    reclaim(2, 128);
    EventNo rest = inPlace(1, kData + 128, 1);
    p->persist(kData);
    reclaim(1, 192);
    Phases phases = check("undo", false);
    if (wrong)
      expectBroken(phases, Rule::Order, Phase::InPlace, Phase::Reclaim);
    else
      expectHeld(phases, 2);
    EXPECT_EQ(phases.transactions.size(), 2U);
    EXPECT_EQ(brokenOf(phases), wrong ? 1U : 0U);
    EXPECT_EQ(p->isProtected(phases, rest), !wrong);  // it is one transaction
  }
}

// An entry of the second transaction lies at the ring's end and at its beginning.
TEST_F(Numbered, SplitOverTheEnd) {
  for (std::uint64_t old : {0, 5}) {
    start(224);
    for (std::uint64_t i = 0; i < 2; ++i) {
      log(1, 10 + i, kData + 64 * i, 0);
      inPlace(1, kData + 64 * i, 1);
      reclaim(1, tail);
    }
    EventNo mine = 0;
    log(1, 20, kData, 1);
    log(2, 21, kData + 512, old);  // begins at 192 and ends at 32
    mine = inPlace(1, kData, 2);
    inPlace(2, kData + 512, 3);
    reclaim(1, tail);
    Phases phases = check("undo", false);
    EXPECT_EQ(phases.transactions.size(), 4U);
    EXPECT_TRUE(p->isProtected(phases, mine));
    if (old == 0)
      expectHeld(phases, 4);
    else
      expectBroken(phases, Rule::WrongOldBytes, Phase::Log, Phase::InPlace);
  }
}

// A commit record ends an undo transaction; the head moves later, over both.
TEST_F(Numbered, UndoUntilTheCommitRecord) {
  for (bool wrong : {false, true}) {
    start(1024);
    log(1, 7, kData, 0);
    log(2, 8, kData + 64, 0);
    inPlace(1, kData, 1);
    inPlace(2, kData + 64, 1, !wrong);
    record(2, 8);
    p->persist(kData + 64, 2);
    record(1, 7);
    // The number is used again, by another transaction, before the space is given back.
    log(2, 8, kData + 64, 1);
    inPlace(2, kData + 64, 2);
    record(2, 8);
    reclaim(1, tail);
    Phases phases = check("undo", true);
    if (wrong)
      expectBroken(phases, Rule::Order, Phase::InPlace, Phase::Record);
    else
      expectHeld(phases, 3);
    EXPECT_EQ(phases.transactions.size(), 3U);
    EXPECT_EQ(brokenOf(phases), wrong ? 1U : 0U);
  }
}

// Of a redo journal, it makes the entries count.
TEST_F(Numbered, RedoFromTheCommitRecordOn) {
  enum { Right, EntryLate, RecordLate, OtherBytes };
  for (int wrong : {Right, EntryLate, RecordLate, OtherBytes}) {
    start(1024);
    std::uint64_t late = log(1, 7, kData, 1, wrong != EntryLate);
    log(2, 8, kData + 64, 1);
    record(1, 7, wrong != RecordLate);
    inPlace(1, kData, wrong == OtherBytes ? 2 : 1);
    flush(1, late);
    flush(1, 128);
    record(2, 8);
    inPlace(2, kData + 64, 1);
    reclaim(1, tail);
    Phases phases = check("redo", true);
    EXPECT_EQ(phases.transactions.size(), 2U);
    switch (wrong) {
      case Right:
        expectHeld(phases, 2);
        continue;
      case EntryLate:
        expectBroken(phases, Rule::Order, Phase::Log, Phase::Record);
        break;
      case RecordLate:
        expectBroken(phases, Rule::Order, Phase::Record, Phase::InPlace);
        break;
      case OtherBytes:
        expectBroken(phases, Rule::WrongNewBytes, Phase::Log, Phase::InPlace);
        break;
    }
    EXPECT_EQ(brokenOf(phases), 1U);
  }
}

// Where the tail moves over what is written, the move over the record makes the entries count.
TEST_F(Numbered, TheTailMovesOverTheCommitRecord) {
  for (bool wrong : {false, true}) {
    start(1024);
    auto entry = [&](std::uint64_t at, std::uint64_t kind, bool durable) {
      p->set("log_entry.addr", kArea + at, kData);
      p->set("log_entry.number", kArea + at + 8, 7);
      p->set("log_entry.kind", kArea + at + 16, kind);
      p->set("log_entry.data", kArea + at + 24, 1);
      if (durable) p->persist(kArea + at);
      allocate(1);
    };
    entry(0, 1, !wrong);
    entry(64, 2, true);
    p->persist(kArea);
    EventNo changed = inPlace(1, kData, 1);
    reclaim(1, tail);
    Phases phases = p->check(R"(
[journal.redo]
head = "journal.base + journal.head"
tail = "journal.base + journal.tail"
area = { at = "journal.base", size = "journal.size" }
entry = { struct = "log_entry", target = "log_entry.addr", size = 8, data = "log_entry.data", transaction = "log_entry.number" }
commit = { record = "log_entry.kind", value = 2 }
)");
    if (wrong)
      expectBroken(phases, Rule::Order, Phase::Log, Phase::Commit);
    else
      expectHeld(phases, 1);
    EXPECT_EQ(p->isProtected(phases, changed), !wrong);
  }
}

// Without numbers a record ends what came since the one before.
TEST_F(Numbered, OneAfterTheOtherUntilTheirRecords) {
  start(1024);
  for (std::uint64_t i = 0; i < 3; ++i) {
    log(1, 0, kData, i);
    inPlace(1, kData, i + 1);
    record(1, 0);
  }
  reclaim(1, tail);
  expectHeld(check("undo", true, false), 3);
}

TEST_F(Numbered, WhatIsWrongIsSaid) {
  auto says = [](const std::string& text) {
    auto parsed = Description::parse(text, "test");
    return parsed ? std::string() : parsed.error().sentence;
  };
  EXPECT_NE(says("[journal.undo]\narea = { at = 0, size = 8 }\nentry = { struct = \"e\", target = \"e.a\", size = 8, "
                 "transaction = \"e.n\" }\ncommit = { field = \"e.f\" }")
                .find("tail is missing"),
            std::string::npos);
  EXPECT_NE(says("[journal.undo]\ntail = \"j.t\"\narea = { at = 0, size = 8 }\nentry = { struct = \"e\", target = "
                 "\"e.a\", size = 8 }\ncommit = { record = \"f.kind\", value = 1 }")
                .find("another one"),
            std::string::npos);
  EXPECT_NE(says("[journal.undo]\ntail = \"j.t\"\narea = { at = 0, size = 8 }\nentry = { struct = \"e\", target = "
                 "\"e.a\", size = 8 }\ncommit = { record = \"e.kind\" }")
                .find("has a value"),
            std::string::npos);
}

// --- Entries that count by a flag of their own, which is cleared when the transaction ends ---

class Flagged : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kEntries = 1024, kData = 2048;
  void SetUp() override {
    p.type("pool", 64, {{"base", 0, 8}, {"size", 8, 8}});
    p.set("pool.base", 64, kEntries);
    p.setDurable("pool.size", 72, 256);
    p.type("entry", 64, {{"valid", 0, 8}, {"addr", 8, 8}, {"old", 16, 8}});
  }
  void log(unsigned i, std::uint64_t target, std::uint64_t old) {
    p.set("entry.addr", kEntries + 64 * i + 8, target);
    p.setDurable("entry.old", kEntries + 64 * i + 16, old);
  }
  void valid(unsigned i, std::uint64_t value) { p.setDurable("entry.valid", kEntries + 64 * i, value); }
  void inPlace(std::uint64_t at, std::uint64_t value) { p.setDurable("item.value", at, value); }
  Phases check() {
    return p.check(R"(
[journal.undo]
area = { at = "pool.base", size = "pool.size" }
entry = { struct = "entry", target = "entry.addr", size = 8, data = "entry.old" }
commit = { field = "entry.valid", value = 1 }
)");
  }
  DescribedProgram p;
};

TEST_F(Flagged, AllRulesHeld) {
  for (std::uint64_t round = 0; round < 3; ++round) {
    log(0, kData, round);
    valid(0, 1);
    inPlace(kData, round + 1);
    valid(0, 0);
  }
  expectHeld(check(), 3);
}

TEST_F(Flagged, TwoEntriesInOneTransaction) {
  log(0, kData, 0);
  valid(0, 1);
  log(1, kData + 64, 0);
  valid(1, 1);
  inPlace(kData, 1);
  inPlace(kData + 64, 1);
  valid(1, 0);
  valid(0, 0);
  expectHeld(check(), 1);
}

TEST_F(Flagged, ValidOnlyAfterTheWriteInPlace) {
  log(0, kData, 0);
  inPlace(kData, 1);
  valid(0, 1);
  valid(0, 0);
  expectBroken(check(), Rule::Order, Phase::Commit, Phase::InPlace);
}

TEST_F(Flagged, ClearedBeforeTheWriteInPlaceIsDurable) {
  log(0, kData, 0);
  valid(0, 1);
  p.set("item.value", kData, 1);
  valid(0, 0);
  p.persist(kData);
  expectBroken(check(), Rule::Order, Phase::InPlace, Phase::Reclaim);
}

// --- Redo, with a commit by value and by generation ---

class Redo : public ::testing::Test {
 protected:
  void SetUp() override {
    p.type("log", 256, {{"state", 0, 8}, {"generation", 8, 8}, {"place", 64, 8}, {"value", 72, 8}, {"stamp", 80, 8}});
    p.set("log.state", 0, 0);
    p.set("log.generation", 8, 1);
    p.persist(0);
  }
  void entry(std::uint64_t value, bool durable = true) {
    p.set("log.place", 64, 2048);
    p.set("log.value", 72, value);
    if (durable) p.persist(64);
  }
  void apply(std::uint64_t value) { p.setDurable("item.value", 2048, value); }
  DescribedProgram p;
};

constexpr const char* kByValue = R"(
[journal.redo]
area = { at = "&log.place", size = 16 }
entry = { target = "log.place", size = 8, data = "log.value" }
commit = { field = "log.state", value = 2 }
)";

TEST_F(Redo, ByValue) {
  entry(7);
  p.setDurable("log.state", 0, 1);
  p.setDurable("log.state", 0, 2);
  apply(7);
  p.setDurable("log.state", 0, 0);
  expectHeld(p.check(kByValue), 1);
}

TEST_F(Redo, CommittedBeforeTheEntryIsDurable) {
  entry(7, false);
  p.setDurable("log.state", 0, 2);
  p.persist(64);
  apply(7);
  p.setDurable("log.state", 0, 0);
  expectBroken(p.check(kByValue), Rule::Order, Phase::Log, Phase::Commit);
}

TEST_F(Redo, InPlaceBeforeTheCommit) {
  entry(7);
  apply(7);
  p.setDurable("log.state", 0, 2);
  p.setDurable("log.state", 0, 0);
  expectBroken(p.check(kByValue), Rule::Order, Phase::Commit, Phase::InPlace);
}

TEST_F(Redo, OtherBytesInPlace) {
  entry(7);
  p.setDurable("log.state", 0, 2);
  apply(8);
  p.setDurable("log.state", 0, 0);
  expectBroken(p.check(kByValue), Rule::WrongNewBytes, Phase::Log, Phase::InPlace);
}

TEST_F(Redo, InPlaceAfterTheLogIsEmpty) {
  p.opBegin(1);
  entry(7);
  p.setDurable("log.state", 0, 2);
  p.setDurable("log.state", 0, 0);
  apply(7);
  p.opEnd(1);
  expectBroken(p.check(kByValue), Rule::Order, Phase::InPlace, Phase::Reclaim);
}

TEST_F(Redo, ByGeneration) {
  auto run = [&](bool stampFirst) {
    if (stampFirst) p.setDurable("log.stamp", 80, 1);
    entry(7);
    if (!stampFirst) p.setDurable("log.stamp", 80, 1);
    apply(7);
    p.setDurable("log.generation", 8, 2);
    return p.check(R"(
[journal.redo]
area = { at = "&log.place", size = 16 }
entry = { target = "log.place", size = 8, data = "log.value" }
commit = { field = "log.stamp", generation = "log.generation" }
)");
  };
  expectHeld(run(false), 1);
}

// One line survives in the order of its stores: no flush is missing between an entry and a flag beside it.
TEST_F(Redo, EntryAndFlagInOneLine) {
  p.set("log.place", 64, 2048);
  p.set("log.value", 72, 7);
  p.set("log.stamp", 80, 1);
  p.persist(64);
  apply(7);
  p.setDurable("log.stamp", 80, 0);
  expectHeld(p.check(R"(
[journal.redo]
area = { at = "&log.place", size = 16 }
entry = { target = "log.place", size = 8, data = "log.value" }
commit = { field = "log.stamp" }
)"),
             1);
}

// A log with one checksum for all of it: nothing has an order until something is written in place, and the checksum is
// durable by then too.
TEST(ByChecksum, OfTheWholeLog) {
  enum { Right, EntryLate, ChecksumLate, ReclaimedEarly };
  for (int wrong : {Right, EntryLate, ChecksumLate, ReclaimedEarly}) {
    DescribedProgram p;
    p.type("ulog", 256, {{"sum", 0, 8}, {"entries", 64, 8, 16}});
    p.type("record", 16, {{"place", 0, 8}, {"value", 8, 8}});
    p.setDurable("ulog.sum", 0, 0);
    p.set("ulog.sum", 0, 99);
    p.set("record.place", 64, 2048);
    p.set("record.value", 72, 7);
    if (wrong != ChecksumLate) p.clwb(1, 0);
    if (wrong != EntryLate) p.clwb(1, 64);
    p.sfence(1);
    EventNo changed = p.set("item.value", 2048, 7);
    if (wrong != ReclaimedEarly) p.persist(2048);
    p.clwb(1, 0);
    p.persist(64);
    p.setDurable("ulog.sum", 0, 0);
    Phases phases = p.check(R"(
[journal.redo]
area = { at = "&ulog.entries", size = 128 }
entry = { struct = "record", target = "record.place", size = 8, data = "record.value" }
commit = { checksum = "ulog.sum" }
)");
    EXPECT_EQ(phases.transactions.size(), 1U);
    EXPECT_EQ(p.isProtected(phases, changed), wrong == Right);
    if (wrong == Right)
      expectHeld(phases, 1);
    else if (wrong == ReclaimedEarly)
      expectBroken(phases, Rule::Order, Phase::InPlace, Phase::Reclaim);
    else
      expectBroken(phases, Rule::Order, Phase::Log, Phase::InPlace);
  }
}

// An entry that counts by its checksum: its parts may be stored in any order, and the generation ends it.
TEST(ByChecksum, HeldAndBroken) {
  auto run = [](bool durable) {
    DescribedProgram p;
    p.type("ulog", 64, {{"generation", 0, 8}});
    p.type("record", 128, {{"place", 0, 8}, {"sum", 8, 8}, {"old", 64, 8}});
    p.setDurable("ulog.generation", 0, 1);
    for (std::uint64_t i = 1; i < 3; ++i) p.setDurable("item.value", 2048 + 64 * i, 40 + i);
    for (std::uint64_t i = 1; i < 3; ++i) {
      p.set("record.place", 512, 2048 + 64 * i);
      p.set("record.sum", 520, 99 + i);
      p.set("record.old", 576, 40 + i);
      p.clwb(1, 512);
      if (durable) p.clwb(1, 576);
      p.sfence(1);
      p.setDurable("item.value", 2048 + 64 * i, 7);
      p.persist(576);
      p.setDurable("ulog.generation", 0, 1 + i);
    }
    return p.check(R"(
[journal.undo]
area = { at = 512, size = 256 }
entry = { struct = "record", target = "record.place", size = 8, data = "record.old" }
commit = { checksum = "record.sum", generation = "ulog.generation" }
)");
  };
  expectHeld(run(true), 2);
  expectBroken(run(false), Rule::Order, Phase::Log, Phase::InPlace);
}

}  // namespace
}  // namespace blackout::test
