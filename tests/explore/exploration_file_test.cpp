// Saved explorations: they come back as they were, belong to one exploration, and anything else is refused in a
// sentence.
#include "explore/exploration_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "explore/exploration.h"
#include "explored.h"
#include "tiny_program.h"

namespace blackout::test {
namespace {

class ExplorationFile : public testing::Test {
 protected:
  ExplorationFile() : path_(std::filesystem::temp_directory_path() / ("blackout-saved-" + std::to_string(getpid()))) {
    program_.opBegin(1);
    for (unsigned i = 0; i < 3; ++i) program_.store(1, 64 * i, 0x0102030405060708, 8);
    program_.opEnd(1);
    // A wide load over two lines, then an operation.
    recovery_.instructions = {{Does::Open, "/pool", 0, 0, 0, 0, 1}, {Does::Load, "", 0, 0, 64, 0, 2},
                              {Does::Load, "", 60, 0, 12, 0, 3},    {Does::Print, "", 0, 0, 0, 0, 0},
                              {Does::Load, "", 128, 0, 8, 0, 4},    {Does::Op, "", 0, 0, 2, 0, 5},
                              {Does::Store, "", 136, 0, 8, 1, 6},   {Does::Print, "", 0, 0, 0, 0, 0}};
  }
  ~ExplorationFile() override {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  std::string saved(Wanted setup = {}) {
    Explored e(program_.index(), recovery_, std::move(setup));
    e.run();
    EXPECT_TRUE(e.explorer->save(path_.string()).has_value());
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string loadError(Wanted setup = {}) {
    setup.options.resume = path_.string();
    Explored e(program_.index(), recovery_, std::move(setup));
    auto loaded = e.explore();
    return loaded ? "" : loaded.error().sentence;
  }
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes; }

  std::filesystem::path path_;
  TinyProgram program_;
  RecoveryProgram recovery_;
};

TEST_F(ExplorationFile, ComesBackAsItWas) {
  for (bool tree : {true, false})
    for (unsigned failures : {1U, 2U}) {
      Wanted setup;
      setup.options.tree = tree;
      setup.options.crashesInARow = failures;
      Explored before(program_.index(), recovery_, setup);
      before.run();
      ASSERT_TRUE(before.explorer->save(path_.string()).has_value());
      setup.options.resume = path_.string();
      Explored after(program_.index(), recovery_, setup);
      after.run();
      EXPECT_EQ(after.runner.runs(), 0U);
      EXPECT_EQ(after.explorer->summary().newRuns, 0U);
      EXPECT_EQ(before.everything(), after.everything());
      // And again, without a difference in a byte.
      std::ifstream in(path_, std::ios::binary);
      std::string first(std::istreambuf_iterator<char>(in), {});
      ASSERT_TRUE(after.explorer->save(path_.string()).has_value());
      std::ifstream again(path_, std::ios::binary);
      EXPECT_EQ(first, std::string(std::istreambuf_iterator<char>(again), {}));
    }
}

// What an interrupt left of an earlier one is no part of it.
TEST_F(ExplorationFile, ReplacesWhatWasLeftUnfinished) {
  std::string whole = saved();
  std::ofstream(path_.string() + ".new", std::ios::binary) << whole.substr(0, whole.size() / 2);
  EXPECT_EQ(saved(), whole);
  EXPECT_FALSE(std::filesystem::exists(path_.string() + ".new"));
}

// What runs had said of themselves comes back, and nothing that no run can say is believed.
TEST_F(ExplorationFile, KeepsFlags) {
  auto marked = [](std::uint64_t, RunEnd& result) {
    for (Query& q : result.queries)
      if (q.site == 4) q.flags = BLACKOUT_QUERY_INSIDE | BLACKOUT_QUERY_SKIPPED;
  };
  Explored before(program_.index(), recovery_, {});
  before.runner.disturb = marked;
  before.run();
  EXPECT_TRUE(before.explorer->postRegions());
  ASSERT_TRUE(before.explorer->save(path_.string()).has_value());
  Wanted setup;
  setup.options.resume = path_.string();
  Explored after(program_.index(), recovery_, setup);
  after.run();
  EXPECT_EQ(after.runner.runs(), 0U);
  EXPECT_EQ(before.everything(), after.everything());
  EXPECT_TRUE(after.explorer->postRegions());

  auto read = readExploration(path_.string());
  ASSERT_TRUE(read.has_value());
  read->levels[0].runs[0].queries[0].query.flags = BLACKOUT_QUERY_FLAGS;
  auto bytes = encode(*read);
  ASSERT_TRUE(bytes.has_value());
  EXPECT_TRUE(decode(*bytes, "flags").has_value());
  read->levels[0].runs[0].queries[0].query.flags = BLACKOUT_QUERY_FLAGS + 1;
  bytes = encode(*read);
  ASSERT_TRUE(bytes.has_value());
  EXPECT_FALSE(decode(*bytes, "flags").has_value());
}

TEST_F(ExplorationFile, OtherPointsOfTheSameRecordingCanUseIt) {
  saved();
  Wanted setup;
  setup.points = PointsMode::All;
  setup.options.resume = path_.string();
  Explored all(program_.index(), recovery_, setup);
  all.run();
  EXPECT_LT(all.runner.runs(), all.explorer->summary().runs);
}

TEST_F(ExplorationFile, OfAnotherExplorationIsRefused) {
  saved();
  EXPECT_EQ(loadError(), "");
  Wanted setup;
  setup.options.identity = 7;
  EXPECT_NE(loadError(setup).find("another program"), std::string::npos);
  setup = {};
  setup.options.tree = false;
  EXPECT_NE(loadError(setup).find("another program"), std::string::npos);
  TinyProgram other;
  other.store(1, 0, 1);
  setup = {};
  setup.options.resume = path_.string();
  Explored e(other.index(), recovery_, setup);
  EXPECT_FALSE(e.explore().has_value());
}

TEST_F(ExplorationFile, WhatIsNoSavedExplorationIsRefused) {
  EXPECT_NE(loadError(), "");  // no file
  write("");
  EXPECT_NE(loadError().find("not a saved exploration"), std::string::npos);
  write("BLACKOUT and more than that, but no header of an exploration");
  EXPECT_NE(loadError().find("not a saved exploration"), std::string::npos);
  std::string bytes = saved();
  bytes[8] = 99;
  write(bytes);
  EXPECT_NE(loadError().find("version 99"), std::string::npos);
}

TEST_F(ExplorationFile, ACutOrAFlippedByteIsSeen) {
  std::string bytes = saved();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_FALSE(decode(bytes.substr(0, i), "cut").has_value()) << i;
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x20);
    EXPECT_FALSE(decode(flipped, "flipped").has_value()) << i;
  }
}

// Past the checksum: whatever the payload says, it is refused or restored, and never believed.
TEST_F(ExplorationFile, NumbersThatReferToNothingAreRefused) {
  auto read = decode(saved(), "saved");
  ASSERT_TRUE(read.has_value());
  TrackedBytes tracked = TrackedBytes::of(program_.index());
  Baseline baseline(program_.index(), tracked, program_.index().points(PointsMode::Enough));
  auto restored = [&](const SavedExploration& s) {
    Exploration exploration(tracked, baseline);
    exploration.addLevel(true, false, {});
    return restore(s, s.levels[0], tracked, exploration, "test").has_value();
  };
  EXPECT_TRUE(restored(*read));
  ASSERT_GT(read->levels[0].runs.size(), 2U);
  auto broken = [&](auto change) {
    SavedExploration s = *read;
    change(s.levels[0].runs);
    return !restored(s);
  };
  using Runs = std::vector<SavedRun>;
  EXPECT_TRUE(broken([](Runs& r) { r[1].under = 1 << 20; }));
  EXPECT_TRUE(broken([](Runs& r) { r[1].under = 0; }));
  EXPECT_TRUE(broken([](Runs& r) { r[1].tree = 1; }));
  EXPECT_TRUE(broken([](Runs& r) { r[1].atRoot = true; }));
  EXPECT_TRUE(broken([](Runs& r) { r.push_back(r[1]); }));
  EXPECT_TRUE(broken([](Runs& r) { r[0].queries[1].query.subject = 1000; }));
  EXPECT_TRUE(broken([](Runs& r) { r[0].queries[1].query.mask = 0; }));
  EXPECT_TRUE(broken([](Runs& r) { r[0].queries[1].query.mask = ~std::uint64_t{0}; }));
}

TEST_F(ExplorationFile, AFolderThatCantBeWrittenIsSaid) {
  Explored e(program_.index(), recovery_, {});
  e.run();
  auto failed = e.explorer->save("/nonexistent/folder/saved");
  ASSERT_FALSE(failed.has_value());
  EXPECT_NE(failed.error().sentence.find("can't be saved"), std::string::npos);
}

TEST(Digests, WhatOperationsReturnedBelongsToThem) {
  auto digest = [](std::uint64_t result) {
    TinyProgram p;
    p.opBegin(1);
    p.writer.event(EventKind::OpEnd, 1, 0, result);
    return digestOf(p.index().operations());
  };
  EXPECT_EQ(digest(1), digest(1));
  EXPECT_NE(digest(1), digest(2));
}

TEST(SavedOutcomes, KeepTheirHistories) {
  SavedExploration saved;
  saved.outcomes.resize(3);
  saved.outcomes[1].history = {{1, "get", {Value::ofText("key")}, {Value::ofUnsigned(1)}, 0, 1}};
  saved.outcomes[2].history = {{1, "get", {Value::ofText("key")}, {Value::ofUnsigned(2)}, 0, 1}};
  auto bytes = encode(saved);
  ASSERT_TRUE(bytes);
  auto read = decode(*bytes, "saved");
  ASSERT_TRUE(read) << read.error().sentence;
  EXPECT_EQ(read->outcomes, saved.outcomes);
}

TEST(Outcomes, AreToldApartByTheirHistories) {
  Outcome none, one, two;
  one.history = {{1, "get", {}, {Value::ofUnsigned(1)}, 0, 1}};
  two.history = {{1, "get", {}, {Value::ofUnsigned(2)}, 0, 1}};
  Outcomes outcomes;
  EXPECT_EQ(outcomes.number(none).value(), 0U);
  EXPECT_EQ(outcomes.number(one).value(), 1U);
  EXPECT_EQ(outcomes.number(two).value(), 2U);
  EXPECT_EQ(outcomes.number(one).value(), 1U);
}

}  // namespace
}  // namespace blackout::test
