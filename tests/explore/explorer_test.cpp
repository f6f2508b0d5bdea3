// Explorations small enough to count by hand: how many recoveries there are, which, and that none is run twice.
#include "explore/explorer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "explore/novelty.h"
#include "explore/whole_record.h"
#include "explored.h"
#include "tiny_program.h"

namespace blackout::test {
namespace {

Instruction open() { return {Does::Open, "/pool", 0, 0, 0, 0, 1}; }
Instruction load(std::uint64_t offset, unsigned size, std::uint64_t site) {
  return {Does::Load, "", offset, 0, size, 0, site};
}
Instruction group(std::uint64_t offset, unsigned size, std::uint64_t site) {
  return {Does::Group, "", offset, 0, size, 0, site};
}
// One mem* call.
Instruction call(std::uint64_t offset, unsigned size, std::uint64_t site) {
  return {Does::Group, "", offset, 0, size, 1, site};
}
Instruction tally(std::uint64_t offset, std::uint64_t site) { return {Does::Tally, "", offset, 0, 1, 0, site}; }
Instruction test(std::uint64_t value) { return {Does::Test, "", 0, 0, 0, value, 0}; }
Instruction store(std::uint64_t offset, unsigned size, std::uint64_t value) {
  return {Does::Store, "", offset, 0, size, value, 0};
}
Instruction flush(std::uint64_t offset) { return {Does::Flush, "", offset, 0, 1, 0, 0}; }
Instruction fence() { return {Does::Fence, "", 0, 0, 1, 0, 0}; }
Instruction op(std::uint64_t n) { return {Does::Op, "", 0, 0, 0, n, 9}; }
Instruction print() { return {Does::Print, "", 0, 0, 0, 0, 0}; }
// Skips as many if what was read is not 0 (mod 3).
Instruction skip(std::uint64_t n) { return {Does::Skip, "", 0, 0, 0, n, 0}; }
Instruction leave() { return {Does::Exit, "", 0, 0, 0, 0, 0}; }

using Words = std::set<std::string>;

struct Counted : Explored {
  Counted(TinyProgram& program, std::vector<Instruction> recovery, Wanted setup = {}, std::string_view model = "")
      : Counted(program, std::make_unique<RecoveryProgram>(RecoveryProgram{std::move(recovery)}), std::move(setup),
                model) {}
  Counted(TinyProgram& program, std::unique_ptr<RecoveryProgram> recovery, Wanted setup, std::string_view model)
      : Explored(program.index(model), *recovery, std::move(setup)), program_(std::move(recovery)) {}
  Counted& go() {
    run();
    EXPECT_EQ(runner.repeated(), 0U);
    EXPECT_EQ(runner.runs(), explorer->summary().runs);
    return *this;
  }
  PointNo last() const { return PointNo(baseline.count() - 1); }
  SpaceNo end() const { return SpaceNo(last().value()); }
  std::size_t leavesAtEnd() const { return explorer->space(end()).recoveries.size(); }
  Words wordsAtEnd() const { return words(end()); }
  const ExplorationSummary& summary() const { return explorer->summary(); }

 private:
  std::unique_ptr<RecoveryProgram> program_;
};

TEST(Explorer, AFlagThatDoesNotGuardItsData) {
  TinyProgram p;
  p.store(1, 0, 1);
  p.store(1, 64, 1);
  Counted e(p, {open(), load(64, 1, 2), print(), skip(1), leave(), load(0, 1, 3), print()});
  e.go();
  EXPECT_EQ(e.summary().points, 1U);
  EXPECT_EQ(e.words(), (Words{"0:0:a", "0:0:ba", "0:0:bb"}));
  EXPECT_EQ(e.summary().runs, 3U);
  EXPECT_EQ(e.summary().runsPerSpaceAlone, 3U);
  EXPECT_EQ(e.summary().mostAtOneSpace, 3U);
  EXPECT_EQ(e.summary().outcomes, 3U);
  EXPECT_TRUE(e.summary().complete());
  EXPECT_NEAR(e.summary().log10EagerStates, std::log10(4.0), 1e-9);
}

// The two states around a store come before everything else; then its point, then all others. Nothing is run twice.
TEST(Explorer, TheWorstStatesAroundAStoreComeFirst) {
  TinyProgram p;
  p.store(1, 0, 1);
  EventNo flag = p.store(1, 64, 1);
  p.clwb(1, 0);
  p.clwb(1, 64);
  p.sfence(1);
  p.store(1, 128, 1);
  std::vector<Instruction> recovery = {open(),  load(64, 1, 2),  print(), load(0, 1, 3),
                                       print(), load(128, 1, 4), print()};
  Wanted wanted;
  for (TestStage pattern : {TestStage::IncompletelyDurable, TestStage::UnrecoveredDurable})
    wanted.options.first.push_back({0, flag, pattern});
  Counted e(p, recovery, wanted);
  e.go();
  EXPECT_EQ(e.summary().incompleteTests, 1U);
  EXPECT_EQ(e.summary().unrecoveredTests, 1U);
  std::map<std::string, TestStage> stages;
  for (SpaceNo s : idRange<SpaceNo>(e.explorer->spaceCount()))
    for (RecoveryNo r : e.explorer->space(s).recoveries) {
      std::string word = wordOf(e.explorer->outcome(e.explorer->outcomeNo(r)));
      auto [at, fresh] = stages.try_emplace(word, e.explorer->stageOf(s, r));
      at->second = std::min(at->second, e.explorer->stageOf(s, r));
    }
  // The flag is read first.
  EXPECT_EQ(stages, (std::map<std::string, TestStage>{{"0:0:baa", TestStage::IncompletelyDurable},
                                                      {"0:0:aba", TestStage::UnrecoveredDurable},
                                                      {"0:0:aaa", TestStage::LikelyPoint},
                                                      {"0:0:bba", TestStage::LikelyPoint},
                                                      {"0:0:bbb", TestStage::OtherPoint}}));
  // Without stages the same is found.
  Counted plain(p, recovery);
  plain.go();
  EXPECT_EQ(plain.words(), e.words());
  EXPECT_EQ(plain.explorer->stageOf(0, plain.explorer->space(0).recoveries[0]), TestStage::None);
  // A bound on runs leaves the first state, and it is known.
  wanted.options.maxRuns = 1;
  Counted bound(p, recovery, wanted);
  bound.run();
  EXPECT_EQ(bound.words(), (Words{"0:0:baa"}));
}

TEST(Explorer, OnlyTheTests) {
  TinyProgram p;
  p.store(1, 0, 1);
  EventNo flag = p.store(1, 64, 1);
  p.clwb(1, 0);
  p.clwb(1, 64);
  p.sfence(1);
  p.store(1, 128, 1);
  Wanted wanted;
  for (TestStage pattern : {TestStage::IncompletelyDurable, TestStage::UnrecoveredDurable})
    wanted.options.first.push_back({0, flag, pattern});
  wanted.strategy.kind = StrategyKind::Tests;
  Counted e(p, {open(), load(64, 1, 2), print(), load(0, 1, 3), print(), load(128, 1, 4), print()}, wanted);
  e.go();
  EXPECT_EQ(e.words(), (Words{"0:0:baa", "0:0:aba"}));
  EXPECT_EQ(e.summary().runs, 2U);
  EXPECT_EQ(e.summary().statesTried, 2U);
  EXPECT_EQ(e.explorer->stageOf(0, e.explorer->space(0).recoveries[0]), TestStage::IncompletelyDurable);
}

TEST(Explorer, AFlushAndAFenceBetweenThemGuardIt) {
  TinyProgram p;
  p.store(1, 0, 1);
  p.clwb(1, 0);
  p.sfence(1);
  p.store(1, 64, 1);
  Counted e(p, {open(), load(64, 1, 2), print(), skip(1), leave(), load(0, 1, 3), print()});
  e.go();
  EXPECT_EQ(e.words(), (Words{"0:0:a", "0:0:bb"}));
  EXPECT_EQ(e.summary().runs, 2U);
}

TEST(Explorer, AStoreOf8BytesReadByNarrowerLoadsIsOneChoice) {
  TinyProgram p;
  p.store(1, 0, 0x0001000100010001, 8);
  Counted e(p, {open(), load(0, 4, 2), print(), load(4, 2, 3), print(), load(6, 2, 4), print()});
  e.go();
  EXPECT_EQ(e.leavesAtEnd(), 2U);
  EXPECT_EQ(e.summary().runs, 2U);
}

TEST(Explorer, NarrowStoresReadByOneWideLoadAreOneQuestion) {
  TinyProgram p;
  p.store(1, 0, 1, 2);
  p.store(1, 2, 1, 2);
  p.store(1, 4, 1, 4);
  Counted e(p, {open(), load(0, 8, 2), print()});
  e.go();
  EXPECT_EQ(e.leavesAtEnd(), 4U);  // prefixes of the history
  RecoveryDetail d = e.explorer->detail(e.end(), e.explorer->space(e.end()).recoveries.back());
  ASSERT_EQ(d.observations.size(), 2U);
  EXPECT_EQ(d.observations[1].query.mask, 0xffU);
  EXPECT_EQ(d.observations[1].classes, 4U);
  EXPECT_EQ(d.observations[1].taken, 3U);
  EXPECT_EQ(d.example, ChosenVersions(UnnamedLines::Least, {{d.observations[1].query.line(), 3}}));
}

TEST(Explorer, ALoadAcrossTwoLinesAsksForEach) {
  TinyProgram p;
  p.store(1, 60, 0x01010101, 4);
  p.store(1, 64, 0x02020202, 4);
  Counted e(p, {open(), load(56, 16, 2), print()});
  e.go();
  EXPECT_EQ(e.leavesAtEnd(), 4U);
  EXPECT_EQ(e.explorer->detail(e.end(), e.explorer->space(e.end()).recoveries[0]).observations.size(), 3U);
}

TEST(Explorer, WhatIsLeftAfterAnObservationIsASetAndNoInterval) {
  TinyProgram p;
  p.store(1, 0, 1);  // a
  p.store(1, 8, 1);  // b
  p.store(1, 0, 0);
  p.store(1, 8, 2);
  Counted e(p, {open(), load(0, 1, 2), print(), load(8, 1, 3), print()});
  e.go();
  // a = 0 leaves the first version and the last two; b is 0, 1 or 2 there, and 0 or 1 where a = 1.
  EXPECT_EQ(e.wordsAtEnd(), (Words{"0:0:aa", "0:0:ab", "0:0:ac", "0:0:ba", "0:0:bb"}));
  EXPECT_EQ(e.summary().runs, 5U);
}

TEST(Explorer, SilentAndRepeatedStoresMakeNoChoice) {
  TinyProgram p;
  p.writer.fileData(p.at(0), std::string(1, '\1'));
  p.store(1, 0, 1);
  p.store(1, 0, 2);
  p.store(1, 0, 1);
  Counted e(p, {open(), load(0, 1, 2), print()});
  e.go();
  EXPECT_EQ(e.leavesAtEnd(), 2U);
}

TEST(Explorer, AByteThatIsSettledAtEachPointIsANodeAllTheSame) {
  TinyProgram p;
  for (unsigned i = 1; i <= 4; ++i) {
    p.store(1, 0, i);
    p.clflush(1, 0);
  }
  Counted e(p, {open(), load(0, 1, 2), print()});
  e.go();
  EXPECT_EQ(e.words(), (Words{"0:0:a", "0:0:b", "0:0:c", "0:0:d", "0:0:e"}));
  EXPECT_EQ(e.summary().runs, 5U);
  // Before each flush two.
  EXPECT_EQ(e.summary().runsPerSpaceAlone, 8U);
}

TEST(Explorer, WhatRecoveryWroteItselfIsNoQuestion) {
  TinyProgram p;
  p.store(1, 0, 2, 8);
  Counted e(p, {open(), store(0, 4, 1), load(0, 8, 2), print()});
  e.go();
  ASSERT_EQ(e.leavesAtEnd(), 1U);
  auto observations = e.explorer->detail(e.end(), e.explorer->space(e.end()).recoveries[0]).observations;
  // Only the half that it did not write, in which the versions agree.
  ASSERT_EQ(observations.size(), 2U);
  EXPECT_EQ(observations[1].query.mask, 0xf0U);
  EXPECT_EQ(observations[1].classes, 1U);
  EXPECT_TRUE(observations[1].uncertain);
}

TEST(Explorer, OperationsArePartOfTheQuestion) {
  TinyProgram p;
  p.opBegin(1);
  p.store(1, 0, 1);
  p.opEnd(1);
  Counted e(p, {open(), load(0, 1, 2), print(), op(0), print()});
  e.go();
  // Not begun and nothing; at the end it has ended, persisted or not.
  EXPECT_EQ(e.words(), (Words{"0:0:aa", "0:0:ac", "0:0:bc"}));
  EXPECT_EQ(e.summary().runs, 3U);
}

TEST(Explorer, AFilesExistenceAndSizeAreAskedForByItsPath) {
  TinyProgram p;
  FileNo made = p.writer.file("/made", 0, false);
  p.range(EventKind::FileSize, 1, 0, 4096);
  p.writer.event(EventKind::FileSize, 1, pmAddr(made, 0), 64);
  Counted e(p, {{Does::Open, "/made", 0, 0, 0, 3, 1}, load(0, 1, 2), print()});
  e.go();
  EXPECT_TRUE(e.words().count("0:2:") != 0);
  EXPECT_TRUE(e.words().count("0:0:a") != 0);
  EXPECT_EQ(e.summary().runs, 3U);  // no file, an empty one, 64 bytes
}

TEST(Explorer, OneWorkerOrManyMakeTheSameRuns) {
  TinyProgram p;
  for (unsigned i = 0; i < 6; ++i) p.store(1, 64 * i, 1);
  std::vector<Instruction> recovery = {open()};
  for (unsigned i = 0; i < 6; ++i) {
    recovery.push_back(load(64 * i, 1, 2 + i));
    recovery.push_back(print());
  }
  Counted one(p, recovery);
  one.go();
  EXPECT_EQ(one.summary().runs, 64U);
  Wanted setup;
  setup.workers = 7;
  setup.order = 5;
  Counted many(p, recovery, setup);
  many.go();
  EXPECT_EQ(one.everything(), many.everything());
}

TEST(Explorer, LoadsThatMayReadFromMoreThanOneStore) {
  TinyProgram p;
  p.store(1, 0, 1);
  p.store(1, 0, 2);
  p.store(1, 1, 7);
  Counted e(p, {open(), load(0, 1, 2), load(0, 2, 3)});
  e.go();
  SpaceNo end = e.end();
  for (RecoveryNo l : e.explorer->space(end).recoveries) {
    RecoveryDetail d = e.explorer->detail(end, l);
    ASSERT_EQ(d.observations.size(), 3U);
    EXPECT_EQ(e.explorer->mayReadFrom(end, l, 1), (std::vector<StoreRef>{{1, 0}, {1, 1}, {1, kNoStore}}));
    // The second load asks for byte 1 alone; after byte 0 was 0 or 1 it can't have been stored.
    std::vector<StoreRef> second = e.explorer->mayReadFrom(end, l, 2);
    if (d.observations[1].taken < 2)
      EXPECT_EQ(second, (std::vector<StoreRef>{{1, kNoStore}}));
    else
      EXPECT_EQ(second, (std::vector<StoreRef>{{1, 2}, {1, kNoStore}}));
  }
}

TEST(Explorer, SingleStatesAreAnsweredFromTheTreeOrByARun) {
  TinyProgram p;
  p.store(1, 0, 1);
  p.store(1, 0, 2);
  p.store(1, 64, 1);
  Wanted setup;
  setup.strategy.kind = StrategyKind::AllInPlace;
  Counted e(p, {open(), load(0, 1, 2), print(), load(64, 1, 3), print()}, setup);
  e.go();
  SpaceNo end = e.end();
  EXPECT_EQ(e.wordsAtEnd(), (Words{"0:0:cb"}));
  std::uint64_t runs = e.runner.runs();
  auto word = [&](UnnamedLines unnamed, std::map<TrackedNo, std::uint32_t> versions) {
    auto recovery = e.explorer->recoveryOf(end, ChosenVersions(unnamed, std::move(versions)));
    EXPECT_TRUE(recovery.has_value());
    return wordOf(e.explorer->outcome(e.explorer->outcomeNo(*recovery)));
  };
  TrackedNo first = e.tracked.find(lineOf(p.at(0)));
  EXPECT_EQ(word(UnnamedLines::Newest, {}), "0:0:cb");
  EXPECT_EQ(e.runner.runs(), runs);
  EXPECT_EQ(word(UnnamedLines::Newest, {{first, 1}}), "0:0:bb");
  EXPECT_EQ(word(UnnamedLines::Least, {{first, 1}}), "0:0:ba");
  EXPECT_EQ(word(UnnamedLines::Least, {{first, 1}}), "0:0:ba");
  EXPECT_EQ(e.runner.runs(), runs + 2);
  for (UnnamedLines unnamed : {UnnamedLines::Least, UnnamedLines::Newest})
    EXPECT_EQ(e.explorer->crashState(end, ChosenVersions(unnamed, {{first, 1}})),
              CrashState{CrashLevel(e.baseline.point(e.last()), unnamed, {{lineOf(p.at(0)), {1, {}}}})});
  EXPECT_EQ(e.explorer->crashSpace(end)->uncertain().size(), 2U);
  EXPECT_EQ(e.explorer->crashSpace(end)->line(first).versions.size(), 3U);
  EXPECT_EQ(e.explorer->crashSpace(end)->line(first).newest, 2U);
}

// --- strategies ---

TEST(Strategies, TwoPlanPersistsOneStoreOrAllButOne) {
  TinyProgram p;
  for (unsigned i = 0; i < 4; ++i) p.store(1, 64 * i, 1);
  Wanted setup;
  setup.strategy.kind = StrategyKind::TwoPlan;
  std::vector<Instruction> recovery = {open()};
  for (unsigned i = 0; i < 4; ++i) {
    recovery.push_back(load(64 * i, 1, 2 + i));
    recovery.push_back(print());
  }
  Counted e(p, recovery, setup);
  e.go();
  EXPECT_EQ(e.wordsAtEnd(),
            (Words{"0:0:baaa", "0:0:abaa", "0:0:aaba", "0:0:aaab", "0:0:abbb", "0:0:babb", "0:0:bbab", "0:0:bbba"}));
  EXPECT_EQ(e.summary().statesTried, 8U);
  EXPECT_NEAR(e.summary().log10States, std::log10(16.0), 1e-9);
}

TEST(Strategies, TwoPlanLosesSomethingInEveryAllButOne) {
  // What the line holds in the end is not its last version: the bytes were the same before.
  TinyProgram p;
  for (unsigned value : {1U, 2U, 1U}) p.store(1, 0, value);
  p.store(1, 64, 1);
  Wanted setup;
  setup.strategy.kind = StrategyKind::TwoPlan;
  Counted e(p, {open(), load(0, 1, 2), print(), load(64, 1, 3), print()}, setup);
  e.go();
  EXPECT_EQ(e.wordsAtEnd(), (Words{"0:0:ba", "0:0:ca", "0:0:ab", "0:0:cb"}));
  EXPECT_EQ(e.summary().statesTried, 6U);
}

TEST(Strategies, ASampleTakesDistinctStatesWhileThereAreAny) {
  TinyProgram p;
  for (unsigned i = 0; i < 6; ++i) p.store(1, 64 * i, 1);
  std::vector<Instruction> recovery = {open()};
  for (unsigned i = 0; i < 6; ++i) {
    recovery.push_back(load(64 * i, 1, 2 + i));
    recovery.push_back(print());
  }
  for (std::uint64_t samples : {1U, 10U, 63U, 64U, 100U}) {
    Wanted setup;
    setup.strategy.kind = StrategyKind::Sample;
    setup.strategy.samples = samples;
    Counted e(p, recovery, setup);
    e.go();
    EXPECT_EQ(e.leavesAtEnd(), std::min<std::size_t>(samples, 64));
  }
  // 2 states up to 32: where the states do not fill a power of four, numbers past them are not taken.
  for (unsigned lines = 1; lines <= 5; ++lines)
    for (std::uint64_t seed : {1U, 2U, 3U}) {
      TinyProgram few;
      for (unsigned i = 0; i < lines; ++i) few.store(1, 64 * i, 1);
      Wanted setup;
      setup.strategy.kind = StrategyKind::Sample;
      setup.strategy.samples = 1U << lines;
      setup.seed = seed;
      Counted e(few, recovery, setup);
      e.go();
      EXPECT_EQ(e.leavesAtEnd(), std::size_t{1} << lines) << seed;
    }
}

TEST(Strategies, ExhaustiveRefusesWhatIsTooMuch) {
  TinyProgram p;
  for (unsigned i = 0; i < 11; ++i) p.store(1, 64 * i, 1);
  Wanted setup;
  setup.strategy.kind = StrategyKind::Exhaustive;
  setup.strategy.most = 2000;
  Counted e(p, {open(), load(0, 1, 2)}, setup);
  auto explored = e.explore();
  ASSERT_FALSE(explored.has_value());
  EXPECT_NE(explored.error().sentence.find("more than 2000 states"), std::string::npos);
  EXPECT_EQ(e.runner.runs(), 0U);
  setup.strategy.most = 2048;
  Counted fits(p, {open(), load(0, 1, 2), print()}, setup);
  fits.go();
  EXPECT_EQ(fits.summary().runs, 2U);
  EXPECT_EQ(fits.summary().statesTried, 2048U);
}

TEST(Strategies, AreChosenByNameAndMadeInOnePlace) {
  const std::vector<AdversarialTest> tests;
  std::shared_ptr<const Strategy> plans = *makeStrategy({StrategyKind::TwoPlan});
  for (StrategyKind kind : strategyKinds()) {
    auto choice = StrategyChoice::parse(nameOf(kind));
    ASSERT_TRUE(choice.has_value()) << nameOf(kind);
    EXPECT_EQ(*choice, StrategyChoice{.kind = kind});
    auto made = makeStrategy(*choice, {1, &tests, plans});
    ASSERT_TRUE(made.has_value()) << nameOf(kind);
    EXPECT_EQ((*made)->name(), kind == StrategyKind::Plans ? plans->name() : nameOf(kind));
    EXPECT_NE(strategyHelp().find(nameOf(kind)), std::string::npos);
    // What a strategy is made of is asked for.
    EXPECT_EQ(makeStrategy(*choice).has_value(), kind != StrategyKind::Plans && kind != StrategyKind::Tests);
  }
  EXPECT_EQ(StrategyChoice::parse("sample:7")->samples, 7U);
  EXPECT_EQ(StrategyChoice::parse("tests:published")->around, LikelySet::Published);
  for (const char* wrong : {"", "eager", "Lazy", "lazy:3", "sample:", "sample:0", "sample:-1", "sample:7x", "plans:2",
                            "tests:", "tests:some", "sample:99999999999999999999"})
    EXPECT_FALSE(StrategyChoice::parse(wrong).has_value()) << wrong;
}

// --- records that are read whole ---

// Reads a record of n lines, and does nothing with it.
std::vector<Instruction> reading(unsigned n, RecordReader reader) {
  std::vector<Instruction> recovery = {open()};
  if (reader == RecordReader::Declared) recovery.push_back(group(0, 64 * n, 5));
  if (reader == RecordReader::Call) recovery.push_back(call(0, 64 * n, 5));
  if (reader == RecordReader::Instruction)
    for (unsigned i = 0; i < 8 * n; ++i) recovery.push_back(load(8 * i, 8, 5));
  recovery.push_back(load(2048, 1, 6));
  recovery.push_back(print());
  return recovery;
}

struct Record : TinyProgram {
  explicit Record(unsigned n) {
    for (unsigned i = 0; i < n; ++i) store(1, 64 * i + 8, 1);
  }
};

constexpr RecordReader kReaders[] = {RecordReader::Instruction, RecordReader::Call, RecordReader::Declared};

TEST(WholeRecord, OfTwoLinesAreExploredExactly) {
  Record p(2);
  for (RecordReader reader : kReaders) {
    Counted e(p, reading(2, reader));
    e.go();
    EXPECT_EQ(e.leavesAtEnd(), 4U);
    EXPECT_TRUE(e.summary().assumptions.empty());
  }
  // Combinations of versions in the middle, too.
  Record longer(2);
  for (unsigned i = 0; i < 10; ++i) longer.store(1, 64 * (i % 2) + 8, 2 + i);
  Counted e(longer, reading(2, RecordReader::Declared));
  e.go();
  EXPECT_EQ(e.leavesAtEnd(), 49U);
}

TEST(WholeRecord, OfManyLinesCostTheirNumberAndNotTheirProduct) {
  for (RecordReader reader : kReaders)
    for (unsigned n : {4U, 8U, 16U, 32U}) {
      Record p(n);
      Wanted setup;
      setup.workers = n % 3 + 1;
      Counted e(p, reading(n, reader), setup);
      e.go();
      bool declared = reader == RecordReader::Declared;
      // What nobody called a checksum is explored exactly as far as the budget goes.
      if (!declared && n <= 8) {
        EXPECT_EQ(e.leavesAtEnd(), std::uint64_t{1} << n);
        EXPECT_TRUE(e.summary().assumptions.empty());
        continue;
      }
      // All, none, each alone missing, each alone there; and a sample.
      EXPECT_GE(e.leavesAtEnd(), 2 * n + 2);
      EXPECT_LE(e.leavesAtEnd(),
                2 * n + 2 + (declared ? WholeRecord::kDeclaredSamples : WholeRecord::kSamples + WholeRecord::kExact));
      ASSERT_EQ(e.summary().assumptions.size(), 1U);
      const ChecksumAssumption& a = e.summary().assumptions[0];
      EXPECT_EQ(a.record, (RecordKey{5, reader}));
      EXPECT_EQ(a.lines, n);
      EXPECT_EQ(a.spaces, 1U);
      EXPECT_EQ(a.states, std::pow(2.0, n));
      EXPECT_EQ(a.tried, e.leavesAtEnd());
      EXPECT_TRUE(e.summary().complete());
    }
}

// n lines are counted, and what comes is whether there are `wanted` of the first `counted`.
std::vector<Instruction> counting(unsigned n, unsigned counted, unsigned wanted) {
  std::vector<Instruction> recovery = {open()};
  for (unsigned i = 0; i < n; ++i) recovery.push_back(i < counted ? tally(64 * i + 8, 5) : load(64 * i + 8, 1, 5));
  recovery.push_back(test(wanted));
  recovery.push_back(print());
  return recovery;
}

TEST(WholeRecord, OnlyWhatIsReadMakesCombinations) {
  // Seven slots of seven words and a flag each; the restart counts the flags: 128 combinations, not 9^7.
  TinyProgram p;
  std::vector<Instruction> recovery = {open()};
  for (unsigned i = 0; i < 7; ++i) {
    for (unsigned word = 0; word < 8; ++word) p.store(1, 64 * i + 8 * word, 1);
    recovery.push_back(tally(64 * i + 56, 5));
  }
  recovery.push_back(test(4));
  recovery.push_back(print());
  Counted e(p, recovery);
  e.go();
  EXPECT_EQ(e.leavesAtEnd(), 128U);
  EXPECT_EQ(e.wordsAtEnd(), (Words{"0:0:a", "0:0:b"}));
  EXPECT_TRUE(e.summary().assumptions.empty());
  EXPECT_TRUE(e.summary().complete());
}

TEST(WholeRecord, SamplesLoseWholeLines) {
  // Six lines of eight stores each, the flag last, read whole: of their 9^6 states 15 of the 64 that lose whole lines
  // fail.
  TinyProgram p;
  std::vector<Instruction> recovery = {open()};
  for (unsigned i = 0; i < 6; ++i) {
    for (unsigned word = 0; word < 8; ++word) p.store(1, 64 * i + 8 * word, 1);
    for (unsigned word = 0; word < 7; ++word) recovery.push_back(load(64 * i + 8 * word, 8, 5));
    recovery.push_back(tally(64 * i + 56, 5));
  }
  recovery.push_back(test(4));
  recovery.push_back(print());
  Counted e(p, recovery);
  e.go();
  EXPECT_EQ(e.wordsAtEnd(), (Words{"0:0:a", "0:0:b"}));
  EXPECT_TRUE(e.summary().assumptions.empty());
}

TEST(WholeRecord, AChecksumIsToldByExperiment) {
  // Only all of it is right.
  Record p(20);
  Counted e(p, counting(20, 20, 20));
  e.go();
  EXPECT_EQ(e.wordsAtEnd(), (Words{"0:0:a", "0:0:b"}));
  ASSERT_EQ(e.summary().assumptions.size(), 1U);
  EXPECT_EQ(e.summary().assumptions[0].record, (RecordKey{5, RecordReader::Instruction}));
  EXPECT_EQ(e.summary().assumptions[0].lines, 20U);
  EXPECT_TRUE(e.summary().complete());
}

TEST(WholeRecord, WithinTheBudgetNothingIsAssumed) {
  // Eleven lines that nobody uses.
  for (std::uint64_t budget : {2047U, 2048U}) {
    Record p(11);
    Wanted setup;
    setup.options.budget = budget;
    Counted e(p, reading(11, RecordReader::Instruction), setup);
    e.go();
    EXPECT_EQ(e.summary().assumptions.empty(), budget == 2048);
    EXPECT_TRUE(e.summary().complete());
  }
}

TEST(WholeRecord, WhatGoesOnDifferentlyIsNoRecordAndExploredExactly) {
  // A loop over eleven lines prints what they hold: 2,048 states, no checksum.
  for (bool byCall : {false, true}) {
    Record p(11);
    for (unsigned workers : {1U, 4U}) {
      Wanted setup;
      setup.workers = workers;
      Counted e(p, {open(), byCall ? call(0, 64 * 11, 5) : load(0, 64 * 11, 5), print()}, setup);
      e.go();
      EXPECT_EQ(e.leavesAtEnd(), 2048U);
      EXPECT_TRUE(e.summary().assumptions.empty());
      EXPECT_TRUE(e.summary().complete());
    }
  }
}

TEST(WholeRecord, ASnapshotThatFailsInAnEighthOfItsStatesIsFound) {
  // What decides are three of twenty lines.
  Record p(20);
  Counted e(p, counting(20, 3, 0));
  e.go();
  EXPECT_EQ(e.wordsAtEnd(), (Words{"0:0:a", "0:0:b"}));
  EXPECT_TRUE(e.summary().assumptions.empty());
  EXPECT_FALSE(e.summary().complete());
}

TEST(WholeRecord, TooManyCombinationsThatMatterAreNamed) {
  Record p(20);
  Wanted setup;
  Counted e(p, {open(), load(0, 64 * 20, 5), print()}, setup);
  e.go();
  EXPECT_TRUE(e.summary().assumptions.empty());
  EXPECT_FALSE(e.summary().complete());
  EXPECT_EQ(e.summary().overBudget, 1U);
  ASSERT_TRUE(e.summary().explosion.has_value());
  EXPECT_EQ(e.summary().explosion->site, 5U);
  EXPECT_EQ(e.summary().explosion->lines, 20U);
  EXPECT_EQ(e.summary().explosion->space, e.end());
  EXPECT_EQ(e.summary().explosion->tried, e.leavesAtEnd());
  // Unless it is allowed to take it for a record.
  setup.options.assumeChecksums = true;
  Counted allowed(p, {open(), load(0, 64 * 20, 5), print()}, setup);
  allowed.go();
  EXPECT_EQ(allowed.summary().assumptions.size(), 1U);
  EXPECT_TRUE(allowed.summary().complete());
}

// The instruction at site 5 sums, and somebody answers for that.
Wanted answered() {
  Wanted setup;
  setup.options.answeredSum = [](std::uint64_t site) { return site == 5; };
  return setup;
}

TEST(WholeRecord, ASumThatSomebodyAnswersForCostsItsLines) {
  for (unsigned n : {4U, 5U, 8U, 12U}) {
    Record p(n);
    Wanted setup = answered();
    setup.workers = n % 3 + 1;
    Counted e(p, reading(n, RecordReader::Instruction), setup);
    e.go();
    EXPECT_TRUE(e.summary().complete());
    if (n == 4) {
      EXPECT_EQ(e.leavesAtEnd(), 16U);
      EXPECT_TRUE(e.summary().assumptions.empty());
      continue;
    }
    EXPECT_GE(e.leavesAtEnd(), 2 * n + 2);
    EXPECT_LE(e.leavesAtEnd(), 2 * n + 2 + WholeRecord::kDeclaredSamples + WholeRecord::kExactAnswered);
    if (n > 5) EXPECT_LT(e.leavesAtEnd(), (1U << n) / 2);
    ASSERT_EQ(e.summary().assumptions.size(), 1U);
    EXPECT_EQ(e.summary().assumptions[0].record, (RecordKey{5, RecordReader::Summing}));
    EXPECT_EQ(e.summary().assumptions[0].states, std::pow(2.0, n));
    EXPECT_EQ(e.summary().assumptions[0].tried, e.leavesAtEnd());
  }
  // Other instructions are explored as ever, and so is one mem* call at that place.
  Record p(8);
  for (bool byCall : {false, true}) {
    Wanted setup = answered();
    if (!byCall) setup.options.answeredSum = [](std::uint64_t site) { return site == 6; };
    Counted e(p, reading(8, byCall ? RecordReader::Call : RecordReader::Instruction), setup);
    e.go();
    EXPECT_EQ(e.leavesAtEnd(), 256U);
    EXPECT_TRUE(e.summary().assumptions.empty());
  }
}

TEST(WholeRecord, ASumThatSomebodyAnswersForIsTriedTornToo) {
  // Three lines of four stores, of which any alone may be torn while the others are whole.
  TinyProgram p;
  for (unsigned i = 0; i < 3; ++i)
    for (unsigned word = 0; word < 4; ++word) p.store(1, 64 * i + 8 * word, 1 + word);
  Counted e(p, reading(3, RecordReader::Instruction), answered());
  e.go();
  ASSERT_EQ(e.summary().assumptions.size(), 1U);
  EXPECT_EQ(e.summary().assumptions[0].states, 125);
  // All, none, one of 12 torn or lost, one of 3 kept.
  EXPECT_GE(e.leavesAtEnd(), 17U);
  EXPECT_LT(e.leavesAtEnd(), 60U);
}

TEST(WholeRecord, WhatDeceivesAWeakSumThatSomebodyAnswersForIsTried) {
  // A check by the number of words that are not 0. Ten lines get one and two lose theirs; with one of the two and one
  // of the ten lost the number is right. It is that in 20 of 4,096 states, none of which loses or keeps one line alone.
  TinyProgram p;
  for (unsigned i : {10U, 11U}) p.store(1, 64 * i + 8, 1);
  for (unsigned i : {10U, 11U}) p.clflush(1, 64 * i);
  for (unsigned i = 0; i < 12; ++i) p.store(1, 64 * i + 8, i < 10 ? 1 : 0);
  for (std::uint64_t seed : {1U, 2U, 3U}) {
    Wanted setup = answered();
    setup.options.seed = seed;
    Counted e(p, counting(12, 12, 10), setup);
    e.go();
    EXPECT_EQ(e.wordsAtEnd(), (Words{"0:0:a", "0:0:b"}));
    EXPECT_TRUE(e.summary().assumptions.empty()) << seed;
    EXPECT_TRUE(e.summary().complete());
    EXPECT_EQ(e.leavesAtEnd(), 4096U);
  }
}

TEST(WholeRecord, WhatIsNoSumThoughSomebodyAnswersForItIsExplored) {
  // What decides are three of eight lines.
  Record p(8);
  Counted e(p, counting(8, 3, 0), answered());
  e.go();
  EXPECT_EQ(e.leavesAtEnd(), 256U);
  EXPECT_TRUE(e.summary().assumptions.empty());
}

TEST(WholeRecord, TheSampleIsTheSeeds) {
  Record p(12);
  Wanted setup;
  Counted one(p, reading(12, RecordReader::Declared), setup);
  one.go();
  Counted same(p, reading(12, RecordReader::Declared), setup);
  same.go();
  setup.options.seed = 77;
  Counted other(p, reading(12, RecordReader::Declared), setup);
  other.go();
  EXPECT_EQ(one.everything(), same.everything());
  EXPECT_NE(one.everything(), other.everything());
}

TEST(WholeRecord, AnotherInstructionBetweenThemMakesThemDecisions) {
  Record p(5);
  std::vector<Instruction> recovery = {open()};
  for (unsigned i = 0; i < 5; ++i) {
    recovery.push_back(load(64 * i + 8, 8, 5));
    recovery.push_back(load(64 * i + 16, 8, 6));
    p.store(1, 64 * i + 16, 0);  // tracked, and always 0
  }
  Counted e(p, recovery);
  e.go();
  EXPECT_EQ(e.leavesAtEnd(), 32U);
  EXPECT_TRUE(e.summary().assumptions.empty());
}

TEST(WholeRecord, ReadsThatDecideWhatIsReadNextAreNoPieces) {
  // One instruction follows a list: where the next is not there, it reads something else. The long list has more
  // combinations than are tried before anything is taken for a record.
  for (unsigned n : {6U, 10U}) {
    TinyProgram p;
    for (unsigned i = 0; i < n; ++i) p.store(1, 64 * i, 1);
    std::vector<Instruction> recovery = {open()};
    for (unsigned i = 0; i < n; ++i) {
      recovery.push_back(load(64 * i, 1, 5));
      recovery.push_back(skip(1));
      recovery.push_back(load(1024 + 64 * i, 1, 5));
    }
    for (unsigned i = 0; i < n; ++i) {
      p.store(1, 1024 + 64 * i, 1);
      p.clflush(1, 1024 + 64 * i);
    }
    Counted e(p, recovery);
    e.go();
    // The last point is before the last flush: where the last was not there, what is read instead is uncertain too.
    EXPECT_EQ(e.leavesAtEnd(), 3U << (n - 1));
    EXPECT_TRUE(e.summary().assumptions.empty());
  }
}

// --- budget and bounds ---

std::vector<Instruction> readingAll(unsigned n) {
  std::vector<Instruction> recovery = {open()};
  for (unsigned i = 0; i < n; ++i) {
    recovery.push_back(load(64 * i + 8, 8, 10 + i));
    recovery.push_back(print());
  }
  return recovery;
}

TEST(Bounds, PastTheBudgetAPartIsExploredAndSaid) {
  Record p(12);
  Wanted setup;
  setup.options.budget = 100;
  Counted e(p, readingAll(12), setup);
  e.go();
  EXPECT_EQ(e.summary().overBudget, 1U);
  EXPECT_FALSE(e.summary().complete());
  EXPECT_EQ(e.summary().completePoints, 0U);
  EXPECT_FALSE(e.explorer->space(e.end()).complete);
  // None and each pair fit: 1 + 12 + 66. All, each alone and each pair missing, and a sample beyond it.
  EXPECT_GT(e.leavesAtEnd(), 79U + 13U);
  EXPECT_LE(e.leavesAtEnd(), 79U + 13U + 66U + 64U);
  for (const char* word : {"0:0:aaaaaaaaaaaa", "0:0:bbbbbbbbbbbb", "0:0:babbbbbbbbbb", "0:0:aaaaaaaaaaab"})
    EXPECT_TRUE(e.wordsAtEnd().count(word) != 0) << word;
  setup.options.budget = 4096;
  Counted whole(p, readingAll(12), setup);
  whole.go();
  EXPECT_EQ(whole.leavesAtEnd(), 4096U);
  EXPECT_TRUE(whole.summary().complete());
}

TEST(Bounds, EveryPointHasItsCheapStatesBeforeOneHasAllOfItsStates) {
  // Four phases of 12 lines each, flushed at their ends: 4,096 recoveries at each of four points.
  TinyProgram p;
  std::vector<Instruction> recovery = {open()};
  for (unsigned phase = 0; phase < 4; ++phase) {
    for (unsigned i = 0; i < 12; ++i) p.store(1, 1024 * phase + 64 * i, 1);
    for (unsigned i = 0; i < 12; ++i) p.clwb(1, 1024 * phase + 64 * i);
    if (phase < 3) p.sfence(1);
    for (unsigned i = 0; i < 12; ++i) {
      recovery.push_back(load(1024 * phase + 64 * i, 1, 2 + 16 * phase + i));
      recovery.push_back(print());
    }
  }
  for (unsigned workers : {1U, 5U}) {
    Wanted setup;
    setup.workers = workers;
    setup.options.maxRuns = 1000;
    Counted e(p, recovery, setup);
    e.run();
    EXPECT_EQ(e.summary().stop, Stop::MaxRuns);
    ASSERT_EQ(e.summary().points, 4U);
    for (unsigned s = 0; s < 4; ++s) {
      Words words = e.words(SpaceNo(s));
      std::string before(12 * s, 'b'), after(12 * (3 - s), 'a');
      auto has = [&](const std::string& phase) { return words.contains("0:0:" + before + phase + after); };
      EXPECT_TRUE(has(std::string(12, 'a')) && has(std::string(12, 'b'))) << s;
      for (unsigned i = 0; i < 12; ++i) {
        std::string kept(12, 'a'), lost(12, 'b');
        kept[i] = 'b';
        lost[i] = 'a';
        EXPECT_TRUE(has(kept) && has(lost)) << s << " " << i;
      }
    }
  }
}

// What is stored where no restart looks makes no new behaviour, and costs no walk; what it looks at does.
TEST(SameSpace, PointsThatDifferOnlyInWhatNobodyReadsAreNotWalked) {
  TinyProgram p(64 * 256);
  p.store(1, 0, 1), p.clwb(1, 0);
  for (unsigned i = 1; i < 200; ++i) {
    p.store(1, 64 * i, 1), p.clwb(1, 64 * i), p.sfence(1);
    if (i == 100) p.store(1, 8, 1), p.store(1, 9, 1), p.clwb(1, 0);
  }
  std::vector<Instruction> recovery = {open(), load(0, 1, 2), print(), load(8, 1, 3), print()};
  std::string one;
  for (unsigned workers : {1U, 5U}) {
    Wanted setup;
    setup.workers = workers;
    Counted e(p, recovery, setup);
    e.go();
    EXPECT_TRUE(e.summary().complete());
    EXPECT_EQ(e.summary().completePoints, e.summary().points);
    EXPECT_GE(e.summary().points, 199U);
    EXPECT_LT(e.summary().walkedQueries, 100U);
    EXPECT_EQ(e.words(SpaceNo(1)), (Words{"0:0:ba"}));
    EXPECT_EQ(e.words(SpaceNo(50)), (Words{"0:0:ba"}));
    EXPECT_EQ(e.words(SpaceNo(100)), (Words{"0:0:ba", "0:0:bb"}));
    EXPECT_EQ(e.words(SpaceNo(150)), (Words{"0:0:bb"}));
    if (workers == 1) one = e.everything();
    EXPECT_EQ(one, e.everything());
  }
}

// A hundred ordinary stores, each at a place that was seen before, and one at a new place, which comes at the end.
TEST(Bounds, WhatIsNewComesFirst) {
  TinyProgram p(64 * 128);
  auto place = [&](std::uint64_t id) {
    Site site;
    site.id = id;
    site.kind = SiteKind::Store;
    return p.writer.where(p.writer.site(site));
  };
  StackId ordinary = place(1), rare = place(2);
  std::vector<Instruction> recovery = {open()};
  for (unsigned i = 0; i <= 100; ++i) {
    p.writer.event(EventKind::Store, 1, p.at(64 * i), 1, 1, i == 100 ? rare : ordinary);
    p.clwb(1, 64 * i), p.sfence(1);
    recovery.push_back(load(64 * i, 1, 2 + i));
    recovery.push_back(print());
  }
  for (unsigned workers : {1U, 4U}) {
    Wanted setup;
    setup.workers = workers;
    setup.options.maxRuns = 8;
    Counted e(p, recovery, setup);
    e.run();
    EXPECT_EQ(e.summary().stop, Stop::MaxRuns);
    // Before the fence after the last store: it may be lost.
    EXPECT_TRUE(e.words(SpaceNo(100)).contains("0:0:" + std::string(101, 'b')));
    EXPECT_TRUE(e.words(SpaceNo(100)).contains("0:0:" + std::string(100, 'b') + "a"));
    EXPECT_TRUE(e.explorer->space(SpaceNo(99)).recoveries.empty());
    // Both ways have had their crash: one at each place.
    Ways ways = waysOf(e.baseline, [&](PointNo p) { return e.explorer->space(SpaceNo(p.value())).complete; });
    EXPECT_EQ(ways.all, 2U);
    EXPECT_EQ(ways.crashed, 2U);
    EXPECT_EQ(waysOf(e.baseline, [](PointNo p) { return p.value() == 99; }).crashed, 1U);
  }
  // Without a bound the order makes no difference.
  Counted whole(p, recovery);
  whole.go();
  Wanted wide;
  wide.options.maxRuns = 1000;
  Counted bounded(p, recovery, wide);
  bounded.run();
  EXPECT_EQ(whole.everything(), bounded.everything());
}

TEST(Bounds, MaxRunsKeepsTheFirstInOrder) {
  Record p(5);
  Wanted whole;
  Counted all(p, readingAll(5), whole);
  all.go();
  for (std::uint64_t most : {1U, 7U, 31U, 32U, 33U}) {
    std::string one;
    for (unsigned workers : {1U, 6U}) {
      Wanted setup;
      setup.workers = workers;
      setup.options.maxRuns = most;
      Counted e(p, readingAll(5), setup);
      e.run();
      EXPECT_EQ(e.summary().newRuns, std::min<std::uint64_t>(most, 32));
      EXPECT_EQ(e.summary().stop, most < 32 ? Stop::MaxRuns : Stop::Finished);
      EXPECT_EQ(e.explorer->space(e.end()).recoveries.size(), std::min<std::uint64_t>(most, 32));
      EXPECT_EQ(e.summary().completePoints, most < 32 ? 0U : 1U);
      EXPECT_LT(e.runner.runs(), e.summary().newRuns + 2 * workers - 1);
      if (workers == 1) one = e.everything();
      EXPECT_EQ(one, e.everything());
    }
  }
}

TEST(Bounds, AnInterruptKeepsWhatIsKnown) {
  Record p(6);
  std::atomic<bool> interrupt = true;
  Wanted setup;
  setup.options.interrupt = &interrupt;
  Counted nothing(p, readingAll(6), setup);
  nothing.run();
  EXPECT_EQ(nothing.summary().stop, Stop::Interrupted);
  EXPECT_EQ(nothing.summary().completePoints, 0U);

  interrupt = false;
  setup.workers = 3;
  Counted some(p, readingAll(6), setup);
  some.runner.disturb = [&](std::uint64_t run, RunEnd&) { interrupt = run >= 20; };
  some.run();
  EXPECT_EQ(some.summary().stop, Stop::Interrupted);
  EXPECT_EQ(some.summary().completePoints, 0U);
  EXPECT_GT(some.summary().runs, 5U);
  EXPECT_LT(some.runner.runs(), 25U);
}

TEST(Bounds, TheClockStopsIt) {
  Record p(6);
  Wanted setup;
  setup.options.seconds = 1e-9;
  Counted e(p, readingAll(6), setup);
  e.run();
  EXPECT_EQ(e.summary().stop, Stop::Seconds);
  EXPECT_FALSE(e.summary().complete());
}

TEST(Bounds, ProgressIsTold) {
  Record p(4);
  Wanted setup;
  std::vector<Progress> told;
  setup.options.progress = [&](const Progress& progress) { told.push_back(progress); };
  Counted e(p, readingAll(4), setup);
  e.go();
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().spaces, 1U);
  EXPECT_EQ(told.back().spacesDone, 1U);
  EXPECT_EQ(told.back().runs, 16U);
}

// --- nondeterminism ---

TEST(Determinism, ARunThatAsksOtherThingsIsSeenAndNamed) {
  Record p(3);
  Counted e(p, readingAll(3));
  e.runner.disturb = [](std::uint64_t run, RunEnd& r) {
    r.used = run == 4 ? kUsedTime : kUsedThreads;
    if (run == 4) r.queries[1].subject = 2;
  };
  e.run();
  EXPECT_EQ(e.summary().diverged, 1U);
  EXPECT_FALSE(e.summary().complete());
  ASSERT_TRUE(e.summary().divergence.has_value());
  const Divergence& d = *e.summary().divergence;
  EXPECT_EQ(d.at, 1U);
  ASSERT_TRUE(d.before.has_value() && d.now.has_value());
  EXPECT_EQ(d.before->subject, 0U);
  EXPECT_EQ(d.now->subject, 2U);
  EXPECT_EQ(d.usedBefore, unsigned{kUsedThreads});
  EXPECT_EQ(d.usedNow, unsigned{kUsedTime});
}

TEST(Determinism, ARunThatEndsEarlyIsSeen) {
  Record p(3);
  Counted e(p, readingAll(3));
  e.runner.disturb = [](std::uint64_t run, RunEnd& r) {
    if (run == 5) r.queries.resize(1);
  };
  e.run();
  ASSERT_TRUE(e.summary().divergence.has_value());
  EXPECT_FALSE(e.summary().divergence->now.has_value());
}

TEST(Determinism, ASampleIsRepeated) {
  Record p(3);
  Counted e(p, readingAll(3));
  e.go();
  auto none = e.explorer->repeatSample(100);
  ASSERT_TRUE(none.has_value());
  EXPECT_FALSE(none->has_value());
  EXPECT_EQ(e.runner.runs(), 16U);
  e.runner.disturb = [](std::uint64_t, RunEnd& r) { r.outcome.code = 5; };
  auto other = e.explorer->repeatSample(2);
  ASSERT_TRUE(other.has_value() && other->has_value());
  EXPECT_TRUE((*other)->outcome);
}

TEST(Determinism, WhatIsNotWatchedCantBeObserved) {
  Record p(3);
  Counted e(p, readingAll(3));
  e.runner.disturb = [](std::uint64_t, RunEnd& r) { r.queries[1].mask = 1; };
  auto explored = e.explore();
  ASSERT_FALSE(explored.has_value());
  EXPECT_EQ(explored.error().exit, ExitCode::Internal);
}

// --- several failures ---

TEST(SeveralFailures, ASecondCrashLeavesWhatTheFirstLeftAndARecoverysStores) {
  TinyProgram p;
  p.store(1, 0, 1);   // a
  p.store(1, 64, 1);  // b
  // Says what it finds, then writes to the line of b without a flush.
  std::vector<Instruction> recovery = {open(), load(0, 1, 2), print(), load(64, 2, 3), print(), store(65, 1, 1)};
  Wanted setup;
  setup.options.crashesInARow = 2;
  Counted e(p, recovery, setup);
  e.go();
  // The sum over b's two bytes is 31 b + c: b and c are 00, 10 or 01, 11 once a recovery has written c.
  EXPECT_EQ(e.wordsAt(e.last(), 1), (Words{"0:0:aa", "0:0:ab", "0:0:ba", "0:0:bb"}));
  EXPECT_EQ(e.wordsAt(e.last(), 2), (Words{"0:0:aa", "0:0:ab", "0:0:ac", "0:0:ba", "0:0:bb", "0:0:bc"}));
  EXPECT_EQ(e.summary().levels, 2U);
  EXPECT_TRUE(e.summary().complete());
  // Byte 65 is tracked now.
  EXPECT_EQ(e.tracked.mask(e.tracked.find(lineOf(p.at(64)))), 3U);
  // Each recovery of the first level ends after its store: one further crash each.
  EXPECT_EQ(e.summary().spaces, 1U + 4U);
}

TEST(SeveralFailures, AFlushOfTheRecoveryDoesNotSettleWhatTheFirstCrashLeft) {
  TinyProgram p;
  p.store(1, 0, 1);
  std::vector<Instruction> recovery = {open(),   load(8, 1, 2), print(), skip(4),       store(8, 1, 1),
                                       flush(8), fence(),       leave(), load(0, 1, 3), print()};
  Wanted setup;
  setup.options.crashesInARow = 2;
  Counted e(p, recovery, setup);
  e.go();
  // Once byte 8 is there, byte 0 of the same line may still be either.
  EXPECT_EQ(e.wordsAt(e.last(), 2), (Words{"0:0:a", "0:0:ba", "0:0:bb"}));
}

// Everything persisted, as far as the recovery's reads agree: also of a line that its trace knows nothing of.
TEST(SeveralFailures, TheNewestOfALineThatTheRecoveryOnlyReadIsWhatTheFirstCrashLeft) {
  TinyProgram p;
  for (unsigned byte = 0; byte < 3; ++byte) p.store(1, byte, 1);
  std::vector<Instruction> recovery = {open(), load(0, 1, 2), print(), store(64, 1, 1), load(1, 2, 3), print()};
  Wanted setup;
  setup.strategy.kind = StrategyKind::AllInPlace;
  setup.options.crashesInARow = 2;
  Counted e(p, recovery, setup);
  e.go();
  EXPECT_EQ(e.wordsAt(e.last(), 1), (Words{"0:0:bc"}));
  EXPECT_EQ(e.wordsAt(e.last(), 2), (Words{"0:0:bc"}));
}

// Of a line that it stored to, too: with its own stores.
TEST(SeveralFailures, TheNewestOfALineHasTheStoresOfTheRecovery) {
  TinyProgram p;
  p.store(1, 0, 1);
  std::vector<Instruction> recovery = {open(), load(8, 1, 2), print(), load(0, 1, 3), print(), store(8, 1, 1)};
  Wanted setup;
  setup.strategy.kind = StrategyKind::AllInPlace;
  setup.options.crashesInARow = 2;
  Counted e(p, recovery, setup);
  e.go();
  EXPECT_EQ(e.wordsAt(e.last(), 1), (Words{"0:0:ab"}));
  EXPECT_EQ(e.wordsAt(e.last(), 2), (Words{"0:0:bb"}));
}

// More ways to leave a line than are enumerated, though a crash before had left it in one way.
TEST(SeveralFailures, ALineThatARecoveryLeavesInTooManyWaysIsCut) {
  TinyProgram p;
  p.store(1, 64, 1);
  std::vector<Instruction> recovery = {open(), load(64, 1, 2), print(), load(0, 1, 3), print()};
  // In any order but within 8 bytes: 65,536 ways, and few contents.
  for (std::uint64_t at = 0; at < 64; at += 8)
    for (int times = 0; times < 3; ++times) recovery.push_back({Does::StoreNt, "", at, 0, 8, 1, 0});
  Wanted setup;
  setup.options.crashesInARow = 2;
  Counted e(p, recovery, setup, "nt-order=any");
  e.go();
  EXPECT_EQ(e.wordsAt(e.last(), 2), (Words{"0:0:aa", "0:0:ab", "0:0:ba", "0:0:bb"}));
  EXPECT_GT(e.summary().cutLines, 0U);
  EXPECT_FALSE(e.summary().complete());
}

TEST(SeveralFailures, ARecoveryThatShortensItsPoolIsInterrupted) {
  TinyProgram p(192);
  p.store(1, 64, 1);
  // Where the pool is whole it says what is in it, cuts it, and makes it whole again.
  std::vector<Instruction> recovery = {
      open(),  {Does::Load, "", 128, 0, 64, 3, 2},   load(64, 1, 3),
      print(), {Does::Truncate, "", 64, 0, 0, 0, 0}, {Does::Truncate, "", 192, 0, 0, 0, 0}};
  Wanted setup;
  setup.options.crashesInARow = 2;
  Counted e(p, recovery, setup);
  e.go();
  EXPECT_EQ(e.wordsAt(e.last(), 1), (Words{"0:0:a", "0:0:b"}));
  // Too short, which is a fault; or whole, and what it held is gone.
  EXPECT_EQ(e.wordsAt(e.last(), 2), (Words{"1:7:", "0:0:a"}));
  EXPECT_TRUE(e.summary().complete());
}

TEST(SeveralFailures, AFileThatARecoveryMadeIsThereForTheNext) {
  TinyProgram p;
  FileNo other = p.writer.file("/other", 64, true);
  p.writer.event(EventKind::FileUnlink, 1, pmAddr(other, 0));
  // Makes the file if it isn't there, and writes to it; else says what it finds in it.
  Instruction look{Does::Open, "/other", 0, 0, 0, 0, 1};
  Instruction make{Does::Create, "/other", 64, 0, 0, 0, 0};
  std::vector<Instruction> recovery = {look, load(0, 1, 2), print(), make, store(0, 1, 1)};
  Wanted setup;
  setup.options.crashesInARow = 3;
  Counted e(p, recovery, setup);
  e.go();
  EXPECT_EQ(e.wordsAt(e.last(), 1), (Words{"0:0:e"}));                    // no file: what was read is 4
  EXPECT_EQ(e.wordsAt(e.last(), 2), (Words{"0:0:e", "0:0:a", "0:0:b"}));  // first it is empty
  EXPECT_EQ(e.wordsAt(e.last(), 3), (Words{"0:0:a", "0:0:b"}));
  EXPECT_TRUE(e.summary().complete());
}

TEST(SeveralFailures, FilesThatNoRunCanBeGivenAreCountedAsNotExplored) {
  TinyProgram p;
  p.store(1, 0, 1);
  Wanted setup;
  setup.options.crashesInARow = 2;
  Counted e(p, {open(), load(0, 1, 2), store(8, 1, 1)}, setup);
  e.runner.disturb = [&](std::uint64_t, RunEnd& r) {
    // The recovery made its pool longer before it stored.
    std::string bytes;
    {
      std::ifstream in(r.tracePath, std::ios::binary);
      bytes.assign(std::istreambuf_iterator<char>(in), {});
    }
    Event size{static_cast<std::uint8_t>(EventKind::FileSize), 0, 1, 0, p.at(0), 1U << 20};
    bytes.insert(bytes.size() - sizeof size, reinterpret_cast<const char*>(&size), sizeof size);
    reinterpret_cast<blackout_trace_header*>(bytes.data())->committed += sizeof size;
    std::ofstream(r.tracePath, std::ios::binary | std::ios::trunc) << bytes;
  };
  e.run();
  EXPECT_EQ(e.summary().fileChangePoints, 2U);  // one for each of the two recoveries
  EXPECT_EQ(e.summary().spaces, 1U);
  EXPECT_FALSE(e.summary().complete());
}

// Of a run that did something else than the one before it there is no way that led there.
TEST(SeveralFailures, ARunThatDivergedIsNotCrashed) {
  Record p(3);
  std::vector<Instruction> recovery = readingAll(3);
  recovery.push_back(store(8, 1, 1));
  Wanted setup;
  setup.options.crashesInARow = 2;
  Counted e(p, recovery, setup);
  e.runner.disturb = [](std::uint64_t run, RunEnd& r) {
    if (run == 5) r.queries.resize(1);
  };
  e.run();
  EXPECT_EQ(e.summary().diverged, 1U);
  EXPECT_EQ(e.summary().levels, 2U);
  EXPECT_EQ(e.summary().spaces, 1U + 7U);  // a crash in each of the others
}

// A read behind a region that only those recoveries have which see a 1 first.
TEST(Explorer, RegionsOfRestartsAreToldWhateverTheOrderOfRuns) {
  TinyProgram p;
  for (std::uint64_t line = 0; line < 4; ++line) p.store(1, 64 * line, 1);
  std::vector<Instruction> recovery = {open(),         load(0, 1, 2),   skip(1),        leave(),
                                       load(64, 1, 3), load(128, 1, 4), load(192, 1, 5)};
  std::string one;
  for (unsigned workers : {1U, 2U, 7U})
    for (std::uint64_t order = 0; order < 3; ++order) {
      Wanted setup;
      setup.workers = workers;
      setup.order = order;
      Counted e(p, recovery, setup);
      e.runner.disturb = [](std::uint64_t, RunEnd& result) {
        for (Query& q : result.queries) q.flags = q.site == 4 ? BLACKOUT_QUERY_OUTSIDE : BLACKOUT_QUERY_SKIPPED;
      };
      e.go();
      EXPECT_TRUE(e.explorer->postRegions());
      if (one.empty()) one = e.everything();
      EXPECT_EQ(e.everything(), one);
      RecoveryDetail detail = e.explorer->detail(e.end(), e.explorer->space(e.end()).recoveries.back());
      for (const Observation& o : detail.observations)
        EXPECT_EQ(o.query.flags, o.query.site == 4 ? BLACKOUT_QUERY_OUTSIDE : BLACKOUT_QUERY_SKIPPED);
    }
}

TEST(Explorer, WithoutAnyRegionInARestartThereIsNone) {
  TinyProgram p;
  p.store(1, 0, 1);
  Counted plain(p, {open(), load(0, 1, 2)});
  plain.go();
  EXPECT_FALSE(plain.explorer->postRegions());
  Counted skipped(p, {open(), load(0, 1, 2)});
  skipped.runner.disturb = [](std::uint64_t, RunEnd& result) {
    for (Query& q : result.queries) q.flags = BLACKOUT_QUERY_SKIPPED;
  };
  skipped.go();
  EXPECT_FALSE(skipped.explorer->postRegions());
}

// With a bound on runs, more workers begin more of them than are told of; what those had marked must not count.
TEST(Explorer, ABoundOnRunsTellsTheSameRegionsForAnyNumberOfWorkers) {
  TinyProgram p;
  p.store(1, 0, 1);
  p.store(1, 64, 1);
  p.opBegin(1);
  p.store(1, 128, 1);
  // The first crash takes several rounds, and an idle worker begins with the second one, whose recoveries alone come to
  // the region.
  std::vector<Instruction> recovery = {open(),         op(0),   skip(3),       load(0, 1, 2),
                                       load(64, 1, 3), leave(), load(0, 1, 6), load(64, 1, 7)};
  std::set<bool> all;
  for (std::uint64_t maxRuns = 1; maxRuns < 8; ++maxRuns) {
    std::set<bool> answers;
    for (unsigned workers : {1U, 3U, 7U})
      for (std::uint64_t order = 0; order < 4; ++order) {
        Wanted setup;
        setup.workers = workers;
        setup.order = order;
        setup.options.maxRuns = maxRuns;
        Counted e(p, recovery, setup);
        e.runner.disturb = [](std::uint64_t, RunEnd& result) {
          for (Query& q : result.queries) q.flags = q.site == 6 ? BLACKOUT_QUERY_INSIDE : 0;
        };
        e.run();
        answers.insert(e.explorer->postRegions());
      }
    EXPECT_EQ(answers.size(), 1U) << maxRuns;
    all.merge(answers);
  }
  EXPECT_EQ(all.size(), 2U);
}

}  // namespace
}  // namespace blackout::test
