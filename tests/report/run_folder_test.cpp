// Runs in a folder: what is kept, what is removed, and what never is; two of them compared; what was kept read again.
#include "report/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "report/json.h"
#include "report/known_findings.h"
#include "report/run_diff.h"
#include "report/run_index.h"
#include "report/saved_report.h"
#include "sample_report.h"

namespace blackout {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RunFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "blackout-runs-XXXXXX";
    parent_ = mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(parent_); }

  // A run that is over.
  std::string run(const Report& report, RunFolder::Limits limits = {}) {
    auto folder = RunFolder::make(parent_);
    EXPECT_TRUE(folder) << folder.error().sentence;
    EXPECT_TRUE(folder->write("report.json", renderJson(report, FailOn::Shown)));
    EXPECT_TRUE(folder->finish(report, FailOn::Shown));
    auto removed = folder->removeOldest(limits);
    EXPECT_TRUE(removed) << removed.error().sentence;
    said_ = removed.value_or("");
    return folder->path();
  }
  bool has(const std::string& name) const { return fs::exists(parent_ + "/" + name); }
  std::vector<IndexedRun> runs() const { return RunIndex::open(parent_, false)->runs().value(); }

  std::string parent_;
  std::string said_;
};

TEST_F(RunFolderTest, TheOldestGo) {
  for (int i = 0; i < 3; ++i) run(test::sampleReport("/src"), {.runs = 2});
  EXPECT_FALSE(has("1"));
  EXPECT_TRUE(has("2") && has("3"));
  EXPECT_EQ(fs::read_symlink(parent_ + "/latest"), "3");
  EXPECT_THAT(said_, HasSubstr("run 1 was removed"));
  run(test::sampleReport("/src"), {.bytes = 1});
  EXPECT_FALSE(has("2") || has("3")) << "more than a byte";
  EXPECT_TRUE(has("4")) << "the run itself stays";
  EXPECT_EQ(runs().size(), 1U);
  fs::remove_all(parent_ + "/4");
  EXPECT_EQ(run(test::sampleReport("/src")), parent_ + "/5") << "a number is given once";
}

TEST_F(RunFolderTest, WhatIsNoRunStays) {
  run(test::sampleReport("/src"));
  // Somebody's own folder, one that took the place of a run, and what a link leads to.
  fs::create_directories(parent_ + "/2024");
  run(test::sampleReport("/src"));
  ASSERT_TRUE(has("2025"));
  fs::remove_all(parent_ + "/2025");
  fs::create_directories(parent_ + "/2025");
  std::ofstream(parent_ + "/2025/mine") << "mine";
  fs::create_directories(parent_ + "/elsewhere");
  std::ofstream(parent_ + "/elsewhere/mine") << "mine";
  fs::create_directory_symlink(parent_ + "/elsewhere", parent_ + "/1/link");
  run(test::sampleReport("/src"), {.runs = 1});
  EXPECT_FALSE(has("1"));
  EXPECT_TRUE(has("2024") && has("2025/mine") && has("elsewhere/mine"));
}

TEST_F(RunFolderTest, OneThatIsNotOverStays) {
  auto atWork = RunFolder::make(parent_);
  ASSERT_TRUE(atWork);
  run(test::sampleReport("/src"), {.runs = 1});
  EXPECT_TRUE(has("1"));
  EXPECT_FALSE(runs()[0].finished);
  EXPECT_THAT(renderRuns(runs()), HasSubstr("was not finished"));
  atWork = tl::unexpected(Error{});
  run(test::sampleReport("/src"), {.runs = 1});
  EXPECT_FALSE(has("1")) << "nobody is at work in it any more";
}

TEST_F(RunFolderTest, AForeignIndexIsRefused) {
  std::ofstream(RunIndex::fileIn(parent_)) << "not a database, but longer than the hundred bytes that a header of one "
                                              "has, so that it is read as if it were one";
  auto folder = RunFolder::make(parent_);
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().sentence, HasSubstr("index.db"));
}

TEST_F(RunFolderTest, TheListSaysWhatIsNew) {
  Report report = test::sampleReport("/src");
  run(report);
  run(report);
  report.findings.pop_back();
  run(report);
  std::string list = renderRuns(runs());
  EXPECT_THAT(list, HasSubstr("; as run 1\n"));
  EXPECT_THAT(list, HasSubstr("; since run 2: 0 new, 1 not found any more\n"));
}

TEST_F(RunFolderTest, TwoRuns) {
  Report before = test::sampleReport("/src"), now = before;
  ASSERT_GT(before.findings.size(), 2U);
  before.incomplete.clear();
  now.incomplete.clear();
  std::string gone = fingerprintText(now.findings.back());
  now.findings.pop_back();
  std::string one = run(before), two = run(now);
  RunDiff diff = compare(*readSavedReport(one, ""), *readSavedReport(two, ""));
  EXPECT_TRUE(diff.fresh.empty());
  ASSERT_EQ(diff.gone.size(), 1U);
  EXPECT_EQ(diff.gone[0].fingerprint, gone);
  EXPECT_EQ(diff.still.size(), now.findings.size());
  EXPECT_EQ(exitCodeOf(diff), ExitCode::Clean);
  EXPECT_THAT(renderDiff(diff), HasSubstr("0 new, 1 not found any more"));
  diff = compare(*readSavedReport(two, ""), *readSavedReport(one + "/report.json", ""));
  EXPECT_EQ(diff.fresh.size(), 1U);
  EXPECT_EQ(exitCodeOf(diff), ExitCode::Findings);
  EXPECT_EQ(readKnownFindings(one)->size(), before.findings.size());
}

TEST_F(RunFolderTest, WhatWasNotLookedAtIsNotGone) {
  Report before = test::sampleReport("/src"), now;
  before.incomplete.clear();
  now.command = {"other"};
  now.incomplete = {"There was no time."};
  RunDiff diff = compare(*readSavedReport(run(before), ""), *readSavedReport(run(now), ""));
  EXPECT_EQ(exitCodeOf(diff), ExitCode::Inconclusive);
  EXPECT_THAT(renderDiff(diff), HasSubstr("may only not have been looked at"));
  EXPECT_THAT(renderDiff(diff), HasSubstr("different commands"));
  // What was suspected is shown now.
  SavedReport suspected, shown;
  suspected.complete = shown.complete = true;
  suspected.findings = {{"1", Severity::Suspected, "x"}};
  shown.findings = {{"1", Severity::Shown, "x"}};
  EXPECT_EQ(compare(suspected, shown).fresh.size(), 1U);
  EXPECT_EQ(compare(shown, suspected).still.size(), 1U);
}

TEST_F(RunFolderTest, AReportIsKeptForSums) {
  Report report = test::sampleReport("/src");
  report.findings[0].replay = parent_ + "/1/finding-1/finding.blackout";
  report.findings[1].replay = "/etc/passwd";
  auto folder = RunFolder::make(parent_);
  ASSERT_TRUE(folder->write(kKeptReport, packReport(report, folder->path()).value()));
  fs::rename(folder->path(), parent_ + "/moved");
  auto read = readKeptReport(parent_ + "/moved");
  ASSERT_TRUE(read) << read.error().sentence;
  EXPECT_EQ(read->findings[0].replay, parent_ + "/moved/finding-1/finding.blackout");
  EXPECT_FALSE(read->findings[1].replay) << "what lies elsewhere is not of this run";
  read->findings[0].replay = report.findings[0].replay;
  read->findings[1].replay = report.findings[1].replay;
  EXPECT_TRUE(*read == report);
  std::ofstream(parent_ + "/moved/" + kKeptReport) << "damaged";
  EXPECT_FALSE(readKeptReport(parent_ + "/moved"));
  EXPECT_FALSE(readKeptReport(parent_ + "/nothing"));
}

}  // namespace
}  // namespace blackout
