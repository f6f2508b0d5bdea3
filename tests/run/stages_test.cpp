// Real restarts of stages_program.c: what a program says of its own restarts, as the exploration knows it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "events/trace.h"
#include "explore/explorer.h"
#include "run/process_runner.h"
#include "run/recording.h"

namespace blackout::test {
namespace {

constexpr std::uint8_t kSkipped = BLACKOUT_QUERY_SKIPPED;
constexpr std::uint8_t kInside = BLACKOUT_QUERY_INSIDE;
constexpr std::uint8_t kOutside = BLACKOUT_QUERY_OUTSIDE;

struct Restarts {
  std::map<std::uint64_t, std::set<std::uint8_t>> flags;  // by line, of all restarts at all points
  std::set<std::string> outcomes;
  std::vector<std::string> notes;
  bool regions = false;
  std::uint64_t runs = 0;
};

Restarts restartsOf(const std::string& mode, unsigned workers) {
  std::filesystem::path pool =
      std::filesystem::temp_directory_path() / ("blackout-stages-" + std::to_string(getpid()) + ".img");
  RecordOptions options;
  options.pm = {pool.string()};
  options.command = {STAGES_PROGRAM, pool.string(), mode};
  auto recording = record(options);
  if (!recording) throw std::runtime_error(recording.error().sentence);
  auto trace = Trace::open(recording->tracePath);
  if (!trace) throw std::runtime_error(trace.error().sentence);
  auto index = Index::build(*trace, {});
  if (!index) throw std::runtime_error(index.error().sentence);
  TrackedBytes tracked = TrackedBytes::of(*index);
  Baseline baseline(*index, tracked, index->points(PointsMode::Enough));
  RecoveryProgram program;
  program.command = options.command;
  program.patterns = {{pool.string(), false}};
  auto runner = ProcessRunner::start(program, baseline, workers, {});
  if (!runner) throw std::runtime_error(runner.error().sentence);
  auto explored = Explorer::explore(tracked, baseline, **runner, {});
  if (!explored) throw std::runtime_error(explored.error().sentence);
  const Explorer& explorer = **explored;
  Restarts out;
  out.regions = explorer.postRegions();
  out.notes = explorer.summary().notes;
  out.runs = explorer.summary().runs;
  for (SpaceNo s : idRange<SpaceNo>(explorer.spaceCount()))
    for (RecoveryNo l : explorer.space(s).recoveries) {
      const Outcome& o = explorer.outcome(explorer.outcomeNo(l));
      out.outcomes.insert(std::to_string(static_cast<int>(o.ending)) + ":" + std::to_string(o.code) + ":" + o.output +
                          o.text);
      for (const Observation& seen : explorer.detail(s, l).observations)
        if (seen.query.kind == QueryKind::Bytes)
          out.flags[offsetOf(addressOf(tracked.line(seen.query.line()))) / BLACKOUT_LINE].insert(seen.query.flags);
    }
  return out;
}

// Processes that this one has started and that live.
std::size_t children() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "status");
    for (std::string word; in >> word;)
      if (word == "PPid:" && in >> word && word == std::to_string(getpid())) ++count;
  }
  return count;
}

// The beginning and the end are points of another baseline, whose runs are made by the same started program.
TEST(ProcessRunner, OneMoreWorkerHasAnotherBaseline) {
  std::filesystem::path pool =
      std::filesystem::temp_directory_path() / ("blackout-beside-" + std::to_string(getpid()) + ".img");
  RecordOptions options;
  options.pm = {pool.string()};
  options.command = {STAGES_PROGRAM, pool.string(), "none"};
  auto recording = record(options);
  ASSERT_TRUE(recording) << recording.error().sentence;
  auto index = Index::build(*recording->trace, {});
  ASSERT_TRUE(index) << index.error().sentence;
  TrackedBytes tracked = TrackedBytes::of(*index);
  std::vector<EventNo> points = index->points(PointsMode::Enough);
  Baseline baseline(*index, tracked, points);
  Baseline ends(*index, tracked, {0, recording->trace->end()});
  RecoveryProgram program;
  program.command = options.command;
  program.patterns = {{pool.string(), false}};
  std::size_t before = children();
  auto runner = ProcessRunner::start(program, baseline, 2, {}, &ends);
  ASSERT_TRUE(runner) << runner.error().sentence;
  EXPECT_EQ(children(), before + 1);
  EXPECT_EQ((*runner)->workers(), 2U);
  Runner& beside = (*runner)->beside();
  EXPECT_EQ(beside.workers(), 1U);
  // One while the other is under way: each waits for its own.
  RunBatch batch(**runner);
  for (unsigned w : {0U, 1U}) ASSERT_TRUE(batch.begin(w, {.pointNo = PointNo(points.size() - 1)}));
  auto atBeginning = beside.run({});
  ASSERT_TRUE(atBeginning) << atBeginning.error().sentence;
  auto atEnd = beside.run({.pointNo = 1});
  ASSERT_TRUE(atEnd) << atEnd.error().sentence;
  EXPECT_EQ(atEnd->outcome.output, "recovered");
  std::ifstream content((*runner)->folderOf(2) / "pools" / pool.relative_path(), std::ios::binary);
  EXPECT_EQ(content.get(), 1);
  std::set<unsigned> waited;
  for (int n = 0; n < 2; ++n) {
    auto ended = batch.wait();
    ASSERT_TRUE(ended) << ended.error().sentence;
    waited.insert(ended->first);
    EXPECT_EQ(ended->second.outcome.output, "recovered");
  }
  EXPECT_EQ(waited, (std::set<unsigned>{0, 1}));
}

using Flags = std::map<std::uint64_t, std::set<std::uint8_t>>;

TEST(Stages, MarkWhatARestartObserves) {
  Flags expected = {
      {0, {0}},         {1, {0}},       {2, {kSkipped}},           {3, {kSkipped}},           {4, {0}},
      {5, {0}},         {6, {kInside}}, {7, {kInside | kSkipped}}, {8, {kInside | kSkipped}}, {9, {kInside}},
      {10, {kOutside}}, {11, {kInside}}};
  for (unsigned workers : {1U, 3U}) {
    Restarts r = restartsOf("regions", workers);
    EXPECT_EQ(r.flags, expected);
    EXPECT_GT(r.runs, 5U);
    EXPECT_TRUE(r.regions);
    EXPECT_EQ(std::count_if(r.notes.begin(), r.notes.end(),
                            [](const std::string& n) { return n.find("blackout_roi_end_if") != std::string::npos; }),
              1);
  }
}

TEST(Stages, SayNothingWithoutACall) {
  Restarts r = restartsOf("none", 2);
  ASSERT_EQ(r.flags.size(), 12U);
  for (const auto& [line, flags] : r.flags) EXPECT_EQ(flags, (std::set<std::uint8_t>{0})) << line;
  EXPECT_FALSE(r.regions);
}

// It ends like an exit with 0: the output is there, a handler's is not, and nothing behind it was read.
TEST(Stages, ACompletedRestartHasEndedWell) {
  Restarts r = restartsOf("none", 1);
  EXPECT_EQ(r.outcomes, (std::set<std::string>{"0:0:recovered"}));
  EXPECT_EQ(r.flags.count(12), 0U);
}

}  // namespace
}  // namespace blackout::test
