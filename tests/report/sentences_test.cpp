// One sentence for each claim and each kind of fact.
#include "report/sentences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/explanation.h"
#include "report/history_block.h"

namespace blackout {
namespace {

ByteValue word(std::uint64_t value, std::size_t size = 8) {
  ByteValue bytes;
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
  return bytes;
}

SeenStore store(PlaceNo place, std::string type = "Node.value", std::uint32_t line = 11) {
  return {1,
          70,
          {"/dir/pool.img", 0x40, 8, std::move(type), word(0), word(5)},
          {"push", "/src/list.cpp", line, 1, "", false},
          place};
}

NumberedPlace fails() {
  NumberedPlace p;
  p.stack = {{"(anonymous namespace)::List::pop(int) const", "/src/list.cpp", 12, 1, "", false}};
  return p;
}

// Places (1) lost, (2) survives, (3) the crash, (4) the read, (5) the failure.
Finding shown(FindingKind kind) {
  CrashCause c;
  c.kind = kind;
  c.first = store(1);
  c.second = store(2, "List.root");
  Finding f = makeFinding(kind, c);
  f.places.resize(4);
  f.places.push_back(fails());
  f.shownBy = ShownBy{"crashes with SIGSEGV", 5, {{1, 77, 3, {store(1)}}}, 1, 1, {}};
  return f;
}
CrashCause& cause(Finding& f) { return std::get<CrashCause>(f.claim); }

// Places (1) and (2) are stored at events 70 and 75, the power fails at 77.
Finding explained(FindingKind kind) {
  Finding f = shown(kind);
  cause(f).second->event = 75;
  cause(f).second->bytes.offset = 0x80;
  cause(f).second->bytes.after = word(0x280000000080);
  cause(f).read = SeenRead{store(0).bytes, word(0), 4, {}};
  f.evidence = {OldValueRead{word(0)}, FineIfPersisted{1}, NeverFlushed{1}, FineWithout{2}, MaySeeSeveral{}};
  return f;
}

TEST(Explanation, TellsWhatHappened) {
  Finding f = explained(FindingKind::MissingFlush);
  EXPECT_EQ(explanationOf(f),
            "(1) changes Node.value from 0 to 5, and nothing flushes its line. Then (2) changes List.root from 0 to "
            "0x280000000080. The power fails after (3) with everything durable that was stored by then but (1). The "
            "restart reads Node.value at (4) and finds 0 (5 with everything durable); it crashes with SIGSEGV. "
            "With (1) durable as well it does not fail this way; without (2) it ends well.");
  EXPECT_TRUE(explains(f, OldValueRead{word(0)}));
  EXPECT_TRUE(explains(f, NeverFlushed{1}));
  EXPECT_FALSE(explains(f, MaySeeSeveral{}));
  // What the finding does not know is not said.
  cause(f).read.reset();
  f.evidence.clear();
  cause(f).first->bytes.before.clear();
  cause(f).everFlushed = true;
  EXPECT_EQ(explanationOf(f),
            "(1) stores to Node.value, and its line is not flushed before (2). Then (2) changes List.root from 0 to "
            "0x280000000080. The power fails after (3) with everything durable that was stored by then but (1). Then "
            "the restarted program crashes with SIGSEGV.");
  EXPECT_FALSE(explains(f, OldValueRead{word(0)}));
}

TEST(Explanation, TheOrderIsThatOfTheRecording) {
  Finding f = explained(FindingKind::WrongOrder);
  cause(f).firstIs = FirstStore::Late;
  cause(f).first->event = 80;
  cause(f).second->bytes.type = "Node.value";
  f.shownBy->crashes[0].lost.clear();
  f.evidence.clear();
  EXPECT_EQ(
      explanationOf(f),
      "(2) changes Node.value from 0 to 0x280000000080. Then (1) changes another Node.value from 0 to 5. The power "
      "fails after (3), before (1), with everything durable that was stored by then. The restart reads Node.value "
      "at (4) and finds 0 (5 with everything durable); it crashes with SIGSEGV.");
}

TEST(Explanation, StoresThatBelongTogether) {
  Finding f = explained(FindingKind::NotAtomic);
  cause(f).others = {store(5, "Node.next")};
  cause(f).others[0].event = 72;
  cause(f).others[0].bytes.offset = 0x60;
  SeenStore unknown = store(0);
  unknown.event = 3;
  f.shownBy->crashes[0].lost = {store(1), cause(f).others[0], unknown};
  EXPECT_THAT(explanationOf(f),
              testing::HasSubstr("from 0 to 5. Then (5) changes Node.next from 0 to 5. Then (2) changes List.root"));
  EXPECT_THAT(explanationOf(f), testing::HasSubstr("by then but (1), (5) and 1 other store."));
}

TEST(Explanation, NoneWhereThereIsNoneToTell) {
  Finding f = explained(FindingKind::MissingFlush);
  f.shownBy->crashes.push_back(f.shownBy->crashes[0]);
  EXPECT_EQ(explanationOf(f), "") << "two crashes";
  f = explained(FindingKind::MissingFlush);
  cause(f).second->level = 2;
  EXPECT_EQ(explanationOf(f), "") << "events of two traces have no order";
  EXPECT_EQ(explanationOf(explained(FindingKind::StalePointer)), "");
  EXPECT_EQ(explanationOf(makeFinding(FindingKind::IdleFence)), "");
}

TEST(Verdict, MissingFlush) {
  Finding f = shown(FindingKind::MissingFlush);
  EXPECT_EQ(verdictOf(f),
            "Node.value, stored at (1), is never flushed: a crash can lose it while List.root, stored at (2), "
            "survives, and then the restarted program crashes with SIGSEGV in List::pop (list.cpp:12).");
  // A name stays as the program writes it.
  cause(f).first->bytes.type = "node.value";
  EXPECT_TRUE(verdictOf(f).starts_with("node.value, stored at (1), is never flushed"));
  cause(f).first->bytes.type.clear();
  cause(f).second.reset();
  cause(f).promised = PromisedEnd{90, 2};
  EXPECT_EQ(verdictOf(f),
            "What is stored at (1) is never flushed: a crash can lose it though the operation that wrote it has ended "
            "at (2), and then the restarted program crashes with SIGSEGV in List::pop (list.cpp:12).");
}

// What is called by its line may be called so twice.
TEST(Verdict, TwoStoresOfOneLine) {
  Finding f = shown(FindingKind::NotAtomic);
  for (std::size_t i : {0, 1}) f.places[i].stack = {{"push", "/src/list.cpp", 11, 1, "", false}};
  EXPECT_THAT(verdictAlone(f), testing::StartsWith("Two stores at list.cpp:11 belong together: "));
  EXPECT_THAT(verdictOf(f), testing::StartsWith("The stores at (1) and (2) belong together: "));
  cause(f).sameBytes = true;
  EXPECT_THAT(verdictAlone(f), testing::HasSubstr("if the power fails before the next store there replaces it"));
}

TEST(Verdict, MissingFence) {
  Finding f = shown(FindingKind::MissingFence);
  cause(f).flush = SeenFlush();
  EXPECT_EQ(
      verdictOf(f),
      "Node.value, stored at (1), is flushed, but no fence follows before (2): a crash can lose it while List.root, "
      "stored at (2), survives, and then the restarted program crashes with SIGSEGV in List::pop (list.cpp:12).");
  cause(f).flush.reset();
  cause(f).second.reset();
  f.shownBy->failsAt = 0;
  EXPECT_EQ(verdictOf(f),
            "Node.value, stored at (1), is a non-temporal store, but no fence follows: a crash can lose it, and then "
            "the restarted program crashes with SIGSEGV.");
}

// The end of an operation that a header of ours marks has no line of the program's.
TEST(Verdict, AloneWithoutTheLineOfAnOperationsEnd) {
  Finding f = shown(FindingKind::MissingFence);
  f.shownBy->failsAt = 0;
  f.places[0].stack = {{"push", "/src/list.cpp", 30, 1, "", false}};
  cause(f).flush = SeenFlush();
  cause(f).second.reset();
  cause(f).promised = PromisedEnd{90, 2};
  EXPECT_EQ(verdictAlone(f),
            "Node.value, stored here, is flushed, but no fence follows before the operation ends: a crash can lose it "
            "though the operation that wrote it has ended, and then the restarted program crashes with SIGSEGV.");
  f.kind = FindingKind::MissingFlush;
  cause(f).everFlushed = true;
  EXPECT_THAT(verdictAlone(f), testing::HasSubstr("is not flushed before the operation ends: a crash"));
  f.kind = FindingKind::WrongOrder;
  EXPECT_THAT(verdictAlone(f), testing::HasSubstr("is flushed too late, after the operation has ended: a crash"));
  f.places[1].stack = {{"main", "/src/main.cpp", 9, 1, "", false}};
  EXPECT_THAT(verdictAlone(f), testing::HasSubstr("though the operation that wrote it has ended at main.cpp:9"));
}

TEST(Verdict, WrongOrder) {
  Finding f = shown(FindingKind::WrongOrder);
  f.shownBy->failsAt = 0;
  EXPECT_THAT(verdictOf(f), testing::HasSubstr("is flushed too late, after (2)"));
  cause(f).everFenced = true;
  EXPECT_EQ(verdictOf(f),
            "Node.value, stored at (1), is made durable too late, after (2): a crash in between can lose it while "
            "List.root, stored at (2), survives, and then the restarted program crashes with SIGSEGV.");
  cause(f).firstIs = FirstStore::Late;
  EXPECT_EQ(verdictOf(f),
            "Node.value, stored at (1), comes only after (2), which relies on it: if the power fails between the two, "
            "the restarted program crashes with SIGSEGV.");
}

TEST(Verdict, NotAtomic) {
  Finding f = shown(FindingKind::NotAtomic);
  f.shownBy->failsAt = 0;
  EXPECT_EQ(verdictOf(f),
            "The stores at (1) and (2) belong together: a crash can keep one without the other, and then the restarted "
            "program crashes with SIGSEGV.")
      << "the crash loses a store, so not everything is persisted";
  f.shownBy->crashes[0].lost.clear();
  EXPECT_EQ(verdictOf(f),
            "The stores at (1) and (2) belong together: if the power fails between them, even with everything "
            "persisted that was stored by then, the restarted program crashes with SIGSEGV.");
  cause(f).eitherWay = true;
  EXPECT_EQ(verdictOf(f),
            "The stores at (1) and (2) belong together: a crash can keep either without the other, and then the "
            "restarted program crashes with SIGSEGV.");
  cause(f).eitherWay = false;
  cause(f).first.reset();
  EXPECT_EQ(verdictOf(f),
            "If the power fails before (2), even with everything persisted that was stored by then, the restarted "
            "program crashes with SIGSEGV.");
  cause(f).second.reset();
  EXPECT_EQ(verdictOf(f),
            "If the power fails after (3), even with everything persisted that was stored by then, the restarted "
            "program crashes with SIGSEGV.");
}

TEST(Verdict, NotAtomicInOneStoreOrSeveral) {
  Finding f = shown(FindingKind::NotAtomic);
  f.shownBy->failsAt = 0;
  cause(f).others = {store(3)};
  EXPECT_EQ(
      verdictOf(f),
      "The stores at (1), (2) and (3) belong together: a crash can keep some of them without the others, and then "
      "the restarted program crashes with SIGSEGV.");
  cause(f).others.clear();
  cause(f).lines = 2;
  EXPECT_EQ(
      verdictOf(f),
      "Node.value, stored at (1), goes into 2 lines: a crash can keep one part of it without the rest, and then the "
      "restarted program crashes with SIGSEGV.");
  cause(f).lines = 0;
  cause(f).sameBytes = true;
  f.shownBy->crashes[0].lost.clear();
  EXPECT_EQ(
      verdictOf(f),
      "The restart does not cope with Node.value as (1) stores it: if the power fails before (2) replaces it, even "
      "with everything persisted that was stored by then, the restarted program crashes with SIGSEGV.");
}

// What is said of flushes, fences and order was tried.
TEST(Hint, IsWhatWasTried) {
  Finding f = shown(FindingKind::MissingFlush);
  EXPECT_EQ(hintOf(f), "");
  auto hint = [&](CureKind cure, PlaceNo second = 2) {
    f.evidence = {TriedCure{cure, 1, second, false, 3, 3}};
    return hintOf(f);
  };
  EXPECT_EQ(hint(CureKind::Flush), "flush the line of (1) and fence, before (2)");
  EXPECT_EQ(sentenceOf(f.evidence[0], f),
            "Tried in the simulation: with a flush and a fence after (1), these crash states can't come about.");
  EXPECT_EQ(hint(CureKind::Flush, 0), "flush the line of (1) and fence, right after it");
  EXPECT_EQ(hint(CureKind::Fence), "put a fence (sfence, pmem_drain) after (1), before (2)");
  EXPECT_EQ(hint(CureKind::Earlier), "flush the line of (1) and fence first, before (2)");
  EXPECT_EQ(hint(CureKind::Order), "store (1) and make it durable first, then store (2)");
  EXPECT_THAT(hint(CureKind::Add), testing::HasSubstr("add them to it before (1)"));
  EXPECT_THAT(hint(CureKind::Rename), testing::HasSubstr("under another name"));
  f.evidence = {TriedCure{CureKind::Flush, 1, 2, false, 2, 3}};
  EXPECT_THAT(sentenceOf(f.evidence[0], f), testing::HasSubstr("2 of these crash states"));
}

// A number is that of a place that there is.
TEST(Verdict, WithoutAnyStore) {
  Finding f = shown(FindingKind::NotAtomic);
  cause(f).first.reset();
  cause(f).second.reset();
  f.shownBy->failsAt = 0;
  f.shownBy->crashes.front().lost.clear();
  EXPECT_EQ(verdictOf(f),
            "If the power fails after (3), even with everything persisted that was stored by then, the restarted "
            "program crashes with SIGSEGV.");
  f.shownBy->crashes.front().after = 0;
  EXPECT_EQ(verdictOf(f), "If the power fails before anything is stored, the restarted program crashes with SIGSEGV.");
}

TEST(Verdict, InterruptedCreation) {
  Finding f = shown(FindingKind::NotAtomic);
  f.claim = InterruptedCreation{"/pm/pool.obj", 1};
  f.shownBy->failsAt = 0;
  EXPECT_EQ(verdictOf(f),
            "If the power fails while pool.obj is being created at (1), the restarted program crashes with SIGSEGV.");
  EXPECT_EQ(sentenceOf(EmptyFile{"/pm/pool.obj"}, f), "When the power fails, pool.obj is there and empty.");
  EXPECT_NE(hintOf(f).find("rename it when it is complete"), std::string_view::npos);
}

TEST(Verdict, OtherSide) {
  OtherSide claim;
  claim.store.bytes.type = "Super.files";
  claim.operation = "creat";
  claim.held = ByteValue(8);
  Finding f = makeFinding(FindingKind::UnprotectedStore, claim);
  EXPECT_EQ(verdictOf(f),
            "After a crash in creat the restart finds everything as before it, but not Super.files, stored at (1): it "
            "holds 0, and no mechanism protects it.");
  claim.after = true;
  claim.store.bytes.type.clear();
  f.claim = claim;
  EXPECT_EQ(
      verdictOf(f),
      "After a crash in creat the restart finds everything as after it, but not what is stored at (1): it holds 0, "
      "and no mechanism protects it.");
}

TEST(Verdict, NotLogged) {
  auto verdict = [](NotLogged c) { return verdictOf(makeFinding(FindingKind::UnloggedStore, std::move(c))); };
  EXPECT_EQ(verdict({store(1), 8, 0}),
            "Node.value is stored at (1) in a transaction that had neither added nor allocated it: a crash before its "
            "end rolls back what it has logged, and not that.");
  EXPECT_EQ(verdict({store(1, ""), 8, 2}),
            "8 bytes are stored at (1) before the transaction adds them at (2): what it logs there is the new value, "
            "so a rollback keeps that.");
  EXPECT_EQ(verdictOf(makeFinding(FindingKind::OpenTransaction)),
            "A transaction that begins at (1) had not ended when the program did.");
  Finding f = shown(FindingKind::NotAtomic);
  f.evidence = {NotInTransaction{2, std::nullopt}};
  EXPECT_EQ(evidenceOf(f)[0], "The transaction in which (2) is stored had neither added nor allocated these bytes.");
  EXPECT_EQ(hintOf(f), rowOf(FindingKind::UnloggedStore).hint);
  // What was tried tells the mistake, not that two stores belong together.
  f.shownBy->failsAt = 0;
  f.evidence = {TriedCure{CureKind::Add, 1, 2, false, 0, 3, true}};
  EXPECT_EQ(verdictOf(f),
            "Node.value, stored at (1), had not been logged by its transaction when it was changed: a crash in the "
            "transaction can keep it, nothing puts it back, and then the restarted program crashes with SIGSEGV.");
  f.shownBy->crashes[0].lost.clear();
  EXPECT_EQ(
      verdictOf(f),
      "Node.value, stored at (1), had not been logged by its transaction when it was changed: if the power fails "
      "before (2), even with everything persisted that was stored by then, nothing puts it back, and the restarted "
      "program crashes with SIGSEGV.");
  EXPECT_EQ(evidenceOf(f)[0], "Tried: with these bytes as they were before the transaction the restart ends well.");
  f.evidence = {TriedCure{CureKind::Add, 1, 2, false, 2, 3, true}};
  EXPECT_EQ(evidenceOf(f)[0],
            "Tried: with these bytes as they were before the transaction the restart ends well; with them durable in "
            "time, 2 of the 3 crash states can't come about.");
  EXPECT_EQ(sentenceOf(CutThereToo{3, 4}, f),
            "(3) and (4) update the same bytes the other way round: a crash between those fails in the same way.");
  f.evidence = {NotInTransaction{1, Frame{"f", "/src/a.c", 7, 0, "", false}}};
  EXPECT_EQ(evidenceOf(f)[0], "The transaction in which (1) is stored adds these bytes only afterwards, at a.c:7.");
}

TEST(Verdict, OtherFailures) {
  Finding f = shown(FindingKind::RecoveryFails);
  f.shownBy->failsAt = 0;
  EXPECT_EQ(verdictOf(f), "After a crash the restarted program crashes with SIGSEGV.");
  f = makeFinding(FindingKind::ProgramBug);
  f.shownBy = ShownBy{"aborts", 1, {}, 0, 0, {}};
  f.places = {fails()};
  EXPECT_EQ(
      verdictOf(f),
      "Started again on what it left when it ended, with nothing lost, the program aborts in List::pop (list.cpp:12).");
}

TEST(Verdict, Race) {
  Finding f = shown(FindingKind::CrossFailureRace);
  cause(f).kind = FindingKind::MissingFlush;
  cause(f).read = SeenRead{store(1).bytes, word(0), 4, {}};
  f.shownBy->failsAt = 0;
  f.shownBy->symptom = "answers neither as with all of it durable nor as with none";
  EXPECT_EQ(verdictOf(f),
            "Node.value, stored at (1), may be lost or not when the power fails at (3), and the restart reads it at "
            "(4): the restarted program then answers neither as with all of it durable nor as with none.");
}

TEST(Verdict, BadReads) {
  BadReadClaim c;
  c.allocated = EventNo(5);
  c.allocatedAt = 1;
  c.read.place = 4;
  EXPECT_EQ(
      verdictOf(makeFinding(FindingKind::UninitializedRead, c)),
      "The restart reads at (4) memory that was allocated or discarded at (1) and that nothing had written since.");
  c = {};
  c.writer = store(1);
  EXPECT_EQ(verdictOf(makeFinding(FindingKind::UncommittedRead, c)),
            "The restart reads what was written at (1), though nothing had been committed by then.");
  c.commit = store(2);
  EXPECT_EQ(
      verdictOf(makeFinding(FindingKind::UncommittedRead, c)),
      "The restart reads what was written at (1), though it was not guaranteed to be durable at the last commit, (2).");
  c.commitBefore = store(3);
  EXPECT_EQ(verdictOf(makeFinding(FindingKind::StaleRead, c)),
            "The restart reads what was written at (1), before the last two commits (3) and (2): it belongs to an "
            "older version.");
}

TEST(Verdict, NotDurable) {
  using When = NotDurable::When;
  auto verdict = [](NotDurable c) {
    Finding f = makeFinding(FindingKind::NeverPersisted, std::move(c));
    f.operation = "put";
    return verdictOf(f);
  };
  EXPECT_EQ(verdict({When::ProgramEnded, store(1), 8, false, false}),
            "Node.value was not durable when the program ended: its line was not flushed after the store.");
  EXPECT_EQ(verdict({When::OperationEnded, store(1, ""), 200, false, true}),
            "A store of 200 bytes was not durable when the operation put ended: its line was flushed, but no fence of "
            "the flushing thread completed the flush.");
  EXPECT_EQ(verdict({When::Unmapped, store(1, ""), 1, true, false}),
            "A store of 1 byte was not durable when its memory was unmapped: no fence of its thread followed this "
            "non-temporal store.");
}

TEST(Verdict, OfDetectors) {
  EXPECT_EQ(verdictOf(makeFinding(FindingKind::OverwrittenUnpersisted, Replaced{store(1), store(2)})),
            "A store was replaced by another one before it was durable.");
  EXPECT_EQ(verdictOf(makeFinding(FindingKind::StoreOutside, StoredPastTheEnd{1})),
            "1 byte was stored past the end of the file.");
  EXPECT_EQ(verdictOf(makeFinding(FindingKind::StoreOutside, StoredPastTheEnd{4})),
            "4 bytes were stored past the end of the file.");
  EXPECT_EQ(verdictOf(makeFinding(FindingKind::LoggedTwice, LoggedBefore{1})),
            "1 byte was added to a transaction that had it already.");
  EXPECT_EQ(verdictOf(makeFinding(FindingKind::LoggedTwice, LoggedBefore{6400})),
            "6,400 bytes were added to a transaction that had them already.");
  EXPECT_EQ(verdictOf(makeFinding(FindingKind::LoggedUnused, LoggedInVain{1, true})),
            "In its only transaction nothing was stored to the range that is added here.");
  EXPECT_EQ(verdictOf(makeFinding(FindingKind::LoggedUnused, LoggedInVain{2, true})),
            "In none of its 2 transactions was anything stored to the range that is added here.");
  EXPECT_EQ(verdictOf(makeFinding(FindingKind::LoggedUnused, LoggedInVain{3, false})),
            "In 3 transactions nothing was stored to the range that is added here, and in fewer something was.");
  EXPECT_EQ(verdictOf(makeFinding(FindingKind::CleanFlush)), "A line was flushed that had nothing to write back.");
  EXPECT_EQ(verdictOf(makeFinding(FindingKind::RepeatedFlush)),
            "A line was flushed again though nothing had been stored to it since its last flush.");
  EXPECT_EQ(verdictOf(makeFinding(FindingKind::IdleFence)), "A fence completed nothing.");
  EXPECT_EQ(verdictOf(makeFinding(FindingKind::FlushOutside)),
            "A flush of volatile memory, which makes nothing durable; often the wrong address was flushed.");
  // Without any facts the kind is all there is to say.
  EXPECT_EQ(verdictOf(makeFinding(FindingKind::MissingFlush)), "Flush missing.");
}

TEST(Facts, OfACause) {
  Finding f = shown(FindingKind::MissingFence);
  cause(f).flush = SeenFlush{1, 80, "clwb", {}, {"flush", "/src/pm.h", 7, 1, "", false}};
  cause(f).read = SeenRead{store(1).bytes, word(0), 4, {std::nullopt, store(1), store(0, "", 30), store(0, "", 30)}};
  cause(f).read->sources.push_back(store(0));
  cause(f).read->sources.back()->at = {};
  auto says = [&](Fact fact) { return sentenceOf(fact, f); };
  EXPECT_EQ(says(OldValueRead{word(0)}),
            "The restart read 8 bytes at offset 0x40 of pool.img as 0; the lost store at (1) had made it 5.");
  EXPECT_EQ(says(FineIfPersisted{1}), "With (1) persisted as well, the restart does not fail this way.");
  EXPECT_EQ(says(NeverFlushed{1}), "No flush of its line follows the store at (1).");
  EXPECT_EQ(says(FlushUnderWay{}), "Its line was flushed at pm.h:7, but the flush was still under way.");
  EXPECT_EQ(says(FlushedLater{}), "Its line is flushed at pm.h:7 only later.");
  EXPECT_EQ(says(LockedCompleted{}),
            "Only under rmw-fences=off: on x86 a locked instruction completed the flush before the crash.");
  EXPECT_EQ(says(FineWithout{2}), "Without (2) the restart ends well: that is what leads to the failure.");
  EXPECT_EQ(says(CanWait{1, 2}), "With (1) and without (2) it ends well too, so (2) can wait.");
  EXPECT_EQ(says(BothFail{}), "Both of the two states were run, and both fail.");
  EXPECT_EQ(says(NotExamined{}),
            "The cause was not determined: there were too many failing states, or there was too little time.");
  EXPECT_EQ(says(MaySeeSeveral{}),
            "The read at (4) may see what was there before, the store at list.cpp:11, the store at list.cpp:30 or a "
            "store without debug information.");
  EXPECT_EQ(says(NotRepeated{"hangs"}),
            "Run once more, the same restart hangs: what it does depends on more than what it reads, so this is only "
            "suspected.");
  EXPECT_EQ(says(NotRepeated{}),
            "Run once more, the same restart did not fail: what it does depends on more than what it reads, so this is "
            "only suspected.");
  cause(f).flush->at = {};
  EXPECT_EQ(says(FlushedLater{}), "Its line is flushed only later.");
  f.kind = FindingKind::CrossFailureRace;
  EXPECT_EQ(says(FineIfPersisted{1}), "With (1) persisted as well, the restart does not answer this way.");
}

TEST(Facts, ManySourcesAreCounted) {
  Finding f = shown(FindingKind::MissingFlush);
  cause(f).read.emplace();
  for (std::uint32_t line = 1; line <= 8; ++line) cause(f).read->sources.push_back(store(0, "", line));
  EXPECT_EQ(sentenceOf(MaySeeSeveral{}, f),
            "The read may see the store at list.cpp:1, the store at list.cpp:2, the store at list.cpp:3, the store at "
            "list.cpp:4, the store at list.cpp:5, the store at list.cpp:6 or 2 more.");
}

TEST(Facts, OtherSymptom) {
  Finding f = shown(FindingKind::RecoveryFails);
  EXPECT_EQ(sentenceOf(OtherSymptom{"aborts", fails().stack.front()}, f),
            "Other restarts fail by the same cause in another way: one aborts in List::pop (list.cpp:12).");
  EXPECT_EQ(sentenceOf(OtherSymptom{"exits with 2", {}}, f),
            "Other restarts fail by the same cause in another way: one exits with 2.");
}

TEST(Facts, ThreadWaits) {
  Finding f = shown(FindingKind::RecoveryFails);
  Frame inner = fails().stack.front(), outer = inner;
  outer.function = "main";
  outer.line = 30;
  EXPECT_EQ(sentenceOf(ThreadWaits{2, "a lock or a condition", {inner, outer}}, f),
            "Thread 2 waits for a lock or a condition in List::pop (list.cpp:12), called from main (list.cpp:30).");
  EXPECT_EQ(sentenceOf(ThreadWaits{1, "a thread", {}}, f), "Thread 1 waits for a thread.");
}

Said said(std::string output, int exitCode = 0) { return {std::move(output), false, exitCode, {}}; }

TEST(Facts, WrongAnswer) {
  Finding f = shown(FindingKind::NotAtomic);
  EXPECT_EQ(
      sentenceOf(WrongAnswer{true, false, "put", said("1\n2\n"), said("", 3), said(std::string(200, 'x')), {}}, f),
      "This restart prints \"1 / 2\"; if the power fails before \"put\" it prints nothing and exits with 3, if "
      "it fails after \"put\" it prints \"" +
          std::string(160, 'x') + " ...\".");
  EXPECT_EQ(sentenceOf(WrongAnswer{false, false, "", said("a"), said("b"), said("c"), {}}, f),
            "This restart prints \"a\"; if the power fails with nothing durable that was stored since the last "
            "ordering point it prints \"b\", if it fails with all of it durable it prints \"c\".");
  EXPECT_EQ(sentenceOf(WrongAnswer{true, true, "put", said("a"), said("b"), said("b"), {}}, f),
            "This restart prints \"a\"; \"put\" had ended before the power failed, and with all that it stored durable "
            "the restart prints \"b\".");
  EXPECT_NE(sentenceOf(WrongAnswer{true, false, "", {}, {}, {}, {}}, f).find("before the operation"),
            std::string::npos);
  Said asked = said("1");
  asked.history = {{1, "get", {Value::ofText("key")}, {Value::ofUnsigned(3)}, 0, 1}};
  EXPECT_NE(sentenceOf(WrongAnswer{true, false, "", asked, {}, {}, {}}, f)
                .find("prints \"1\" and answers " + textOf(asked.history) + ";"),
            std::string::npos);
}

TEST(Facts, WrongLinesOfAnAnswer) {
  Finding f = shown(FindingKind::NotAtomic);
  auto end = [&](std::vector<WrongLine> lines) {
    std::string text = sentenceOf(WrongAnswer{true, false, "", said("a"), said("b"), said("c"), std::move(lines)}, f);
    return text.substr(text.find("\"c\".") + 4);
  };
  EXPECT_EQ(end({}), "");
  EXPECT_EQ(end({{WrongLine::Neither, 3, "entry 0"}, {WrongLine::Missing, 1, "entry 5"}}),
            " Its line 3, \"entry 0\", is in neither. \"entry 5\", which is in both, is missing.");
  EXPECT_EQ(end({{WrongLine::Before, 2, "b 0"}, {WrongLine::After, 1, "a 1"}}),
            " Its line 2, \"b 0\", is only in the first, and line 1, \"a 1\", only in the second.");
}

TEST(Facts, NoOrder) {
  Finding f = shown(FindingKind::MissingFlush);
  Values one = {Value::ofUnsigned(1)};
  HistoryOperation insert{1, "insert", {Value::ofUnsigned(7), Value::ofUnsigned(70)}, one, 0, 0};
  HistoryOperation cut{1, "remove", {Value::ofUnsigned(7)}, {}, 0, HistoryOperation::kUnfinished};
  HistoryOperation get{1, "get", {Value::ofUnsigned(7)}, {Value::ofUnsigned(0)}, 0, 0};
  NoOrder fact{
      "map", "durable", {{0, insert, true}, {0, cut, true}, {1, get, false}}, 2, {{}, {Value::ofUnsigned(70)}}};
  EXPECT_EQ(sentenceOf(fact, f),
            "No order of the operations explains their answers: insert(7, 70) = 1, remove(7) unfinished, the power "
            "fails, and then get(7) = 0, which could only be nothing or 70 (durable linearizability of a map).");
  fact.operations[2].operation.results.clear();
  EXPECT_NE(sentenceOf(fact, f).find("and then get(7) answers nothing, which could only be"), std::string::npos);
  // Of many, the last ones.
  fact = {"array", "buffered", {}, 8, {}};
  for (int i = 0; i < 8; ++i) fact.operations.push_back({0, insert, true});
  fact.operations.push_back({1, get, false});
  std::string text = sentenceOf(fact, f);
  EXPECT_EQ(text.find("No order of the operations explains their answers: after 2 operations, insert(7, 70) = 1,"), 0U);
  EXPECT_NE(text.find("and then get(7) = 0 (buffered durable linearizability of an array)."), std::string::npos);
}

TEST(History, OperationsAsLines) {
  Finding f = shown(FindingKind::MissingFlush);
  Values one = {Value::ofUnsigned(1)};
  HistoryOperation insert{1, "insert", {Value::ofUnsigned(7), Value::ofUnsigned(70)}, one, 0, 0};
  HistoryOperation cut{1, "remove", {Value::ofUnsigned(7)}, {}, 0, HistoryOperation::kUnfinished};
  HistoryOperation get{1, "get", {Value::ofUnsigned(7)}, {Value::ofUnsigned(0)}, 0, 0};
  EXPECT_TRUE(historyBlock(f).empty());
  EXPECT_TRUE(historyTitle(f).empty());
  auto set = [&](NoOrder fact) {
    f.evidence = {Fact(std::move(fact))};
    return historyBlock(f);
  };
  std::vector<HistoryLine> lines =
      set({"map", "durable", {{0, insert, true}, {1, get, false}}, 1, {{Value::ofUnsigned(70)}}});
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], (HistoryLine{"insert(7, 70) -> true", "acknowledged"}));
  EXPECT_EQ(lines[1].operation, "crash");
  EXPECT_EQ(lines[2], (HistoryLine{"get(7) -> 0",
                                   "no order of the operations explains this answer: 70 was promised, and nobody wrote "
                                   "0 there (durable linearizability of a map)"}));
  EXPECT_EQ(historyTitle(f), "lost after it was acknowledged");
  // Nothing is promised of what was under way.
  lines =
      set({"map", "durable", {{0, insert, true}, {0, cut, true}, {1, get, false}}, 2, {{}, {Value::ofUnsigned(70)}}});
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[1], (HistoryLine{"remove(7)", "under way when the power failed"}));
  EXPECT_EQ(lines[3].remark,
            "no order of the operations explains this answer: it could only be nothing or 70, and nobody wrote 0 there "
            "(durable linearizability of a map)");
  EXPECT_EQ(historyTitle(f), "half of an interrupted operation is there");
  // A value that somebody wrote, and that is gone by a remove.
  HistoryOperation remove{1, "remove", {Value::ofUnsigned(7)}, one, 0, 0};
  get.results = {Value::ofUnsigned(70)};
  lines = set({"map", "strict", {{0, insert, true}, {0, remove, true}, {1, get, false}}, 2, {{}}});
  EXPECT_EQ(lines.back().remark,
            "no order of the operations explains this answer: it could only be nothing (strict linearizability of a "
            "map)");
  EXPECT_EQ(historyTitle(f), "undone after it was acknowledged");
  // What nobody made.
  set({"map", "durable", {{1, get, false}}, 0, {{}}});
  EXPECT_EQ(historyTitle(f), "something is there that nobody made");
  // It reads well, and then does not work.
  HistoryOperation refused{1, "insert", {Value::ofUnsigned(7), Value::ofUnsigned(71)}, {Value::ofUnsigned(0)}, 0, 0};
  lines = set({"map", "durable", {{0, insert, true}, {1, remove, true}, {1, refused, false}}, 2, {one}});
  EXPECT_EQ(lines[2], (HistoryLine{"remove(7) -> true", "after the restart"}));
  EXPECT_EQ(historyTitle(f), "the structure no longer works");
  // Nothing was there before the crash, and what is inserted afterwards is not found.
  HistoryOperation nothing{1, "get", {Value::ofUnsigned(7)}, {}, 0, 0};
  set({"map", "durable", {{1, insert, true}, {1, nothing, false}}, 1, {{Value::ofUnsigned(70)}}});
  EXPECT_EQ(historyTitle(f), "the structure no longer works");
  // One after the other is taken from a queue or a stack: what comes last is there to be read, too.
  HistoryOperation push{1, "push", {Value::ofUnsigned(70)}, {}, 0, 0};
  HistoryOperation pushing{1, "push", {Value::ofUnsigned(71)}, {}, 0, HistoryOperation::kUnfinished};
  HistoryOperation pop{1, "pop", {}, {Value::ofUnsigned(71)}, 0, 0};
  HistoryOperation none{1, "pop", {}, {}, 0, 0};
  set({"stack",
       "durable",
       {{0, push, true}, {0, pushing, true}, {1, pop, true}, {1, none, false}},
       3,
       {{Value::ofUnsigned(70)}}});
  EXPECT_EQ(historyTitle(f), "lost after it was acknowledged");
  // Of many, the last ones.
  NoOrder many{"array", "buffered", {}, 8, {}};
  for (int i = 0; i < 8; ++i) many.operations.push_back({0, insert, true});
  many.operations.push_back({1, get, false});
  lines = set(std::move(many));
  EXPECT_EQ(lines[0], (HistoryLine{"...", "2 operations that can be explained"}));
  EXPECT_EQ(lines.size(), 9U);
}

TEST(Facts, FoundAt) {
  Finding f = shown(FindingKind::MissingFlush);
  EXPECT_EQ(sentenceOf(FoundAt{TestStage::OtherPoint}, f),
            "Found by exploring all other points: no crash at a likely linearization point shows it.");
}

TEST(Facts, CountedTogether) {
  Finding f = shown(FindingKind::WrongOrder);
  EXPECT_EQ(
      sentenceOf(CountedTogether{"N.child[]", "N.count", "every one of 3 reads stays below count", true, false, 1, 2},
                 f),
      "N.child[] and N.count belong together: in the code every one of 3 reads stays below count, and both are "
      "changed in one update. After this crash N.count counts the update (2), and N.child[] does not have it (1).");
  EXPECT_EQ(
      sentenceOf(CountedTogether{"N.child[]", "N.count", "the one read stays below count", true, true, 1, 0}, f),
      "N.child[] and N.count belong together: in the code the one read stays below count, and both are changed in "
      "one update. After this crash N.child[] has the update, and N.count does not count it (1).");
}

TEST(Facts, TrustedTooSoon) {
  Finding f = shown(FindingKind::NotAtomic);
  TrustedTooSoon fact{false, store(0), std::nullopt, std::nullopt};
  EXPECT_EQ(sentenceOf(fact, f),
            "The restart trusts what was stored at list.cpp:11, though nothing had been committed.");
  fact.commit = store(0, "", 20);
  EXPECT_EQ(sentenceOf(fact, f),
            "The restart trusts what was stored at list.cpp:11, which was not guaranteed to be durable at the last "
            "commit at list.cpp:20.");
  fact.commitBefore = store(0, "", 19);
  fact.stale = true;
  EXPECT_EQ(
      sentenceOf(fact, f),
      "The restart trusts what was stored at list.cpp:11, before the last two commits at list.cpp:19 and list.cpp:20.");
}

TEST(Facts, OfBadReadsAndDetectors) {
  Finding f = makeFinding(FindingKind::UncommittedRead, BadReadClaim{});
  auto says = [&](Fact fact) { return sentenceOf(fact, f); };
  EXPECT_EQ(says(ReadAfterCrash{3, 77, 1, 1200}),
            "This happens if the power fails after (3) (event 77), among others: at 1 point, in 1,200 crash states.");
  EXPECT_EQ(says(InferredCommit{"why"}), "The restart trusts it because of that: why.");
  EXPECT_EQ(says(OtherBytesMatter{}), "With other bytes in that place the restart says something else.");
  EXPECT_TRUE(says(OtherAddresses{1}).find("what is stored at (1) was moved to where nothing is") != std::string::npos);
  EXPECT_EQ(says(NotRunAgain{}), "There was no time to run the same restart once more, so this is only suspected.");
  EXPECT_EQ(says(LockLeft{}), "Whoever held that lock ended with the power: no process is left that could release it.");
  EXPECT_EQ(says(NotDurableEither{1, NotDurable::When::ProgramEnded, 2, 3}),
            "Nor was (1) durable when the program ended, 2 of 3 times.");
  EXPECT_EQ(says(NotDurableEither{1, NotDurable::When::OperationEnded, 1, 1}),
            "Nor was (1) durable when its operation ended, 1 of 1 time.");
  Finding lost = shown(FindingKind::MissingFlush);
  EXPECT_EQ(
      sentenceOf(NotDurableEither{4, NotDurable::When::ProgramEnded, 2, 2}, lost),
      "Nor was (4), in the same line, durable when the program ended, 2 of 2 times; what was tried for (1) makes it "
      "durable too.");
  EXPECT_EQ(says(NeverDurable{}), "It was never made durable afterwards.");
  EXPECT_EQ(says(TriedDurable{CureKind::Flush}),
            "Tried in the simulation: with a flush and a fence after (1) it is durable in time, each time.");
  EXPECT_EQ(says(TriedDurable{CureKind::Fence}),
            "Tried in the simulation: with a fence after (1) it is durable in time, each time.");
  EXPECT_EQ(says(DurableTooLate{9}), "It was made durable afterwards, too late for a crash in between.");
  EXPECT_EQ(says(DurableWithRmwFences{}),
            "It depends on rmw-fences=off: with locked instructions as fences the store is durable in time.");
  EXPECT_EQ(says(TransactionDidWork{}),
            "Other ranges of such a transaction were written: it had not been rolled back before its work.");
  EXPECT_EQ(says(MayBeRolledBack{}),
            "Nothing that these transactions had logged was written: if all of them were rolled back early, nothing is "
            "wasted.");
  EXPECT_EQ(says(OtherCallersWrite{}), "What other callers add by the same code is written.");
}

TEST(Crash, InWords) {
  ShownBy s = *shown(FindingKind::MissingFlush).shownBy;
  EXPECT_EQ(crashText(s),
            "the power fails after (3) (event 77) with everything persisted but 8 bytes at offset 0x40 of pool.img");
  s.crashes[0].lost.push_back(store(0));
  s.crashes.push_back({2, 9, 0, {}});
  EXPECT_EQ(
      crashText(s),
      "the power fails after (3) (event 77) with everything persisted but 2 stores, the first of them 8 bytes at "
      "offset 0x40 of pool.img; then it fails in the restart at the beginning (event 9) with everything persisted");
  s.crashes.clear();
  EXPECT_EQ(crashText(s), "none: the program had ended, and everything it had stored was persisted");
}

TEST(Values, AreIntegersWhereTheyMayBe) {
  EXPECT_EQ(valueText(word(5, 1)), "5");
  EXPECT_EQ(valueText(word(0xffff, 2)), "65535");
  EXPECT_EQ(valueText(word(0x10000, 4)), "0x10000");
  EXPECT_EQ(valueText(word(0x7f0000001000)), "0x7f0000001000");
  EXPECT_EQ(valueText(word(0x636261, 3)), "61 62 63");
  EXPECT_EQ(valueText({}), "unknown");
}

}  // namespace
}  // namespace blackout
