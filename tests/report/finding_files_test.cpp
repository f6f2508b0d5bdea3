// Replay files beside a report: numbered as the findings stand there, never lost silently.
#include "report/finding_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace blackout {
namespace {

namespace fs = std::filesystem;

class FindingFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("blackout-files-" + std::to_string(getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static ReplayableFinding at(EventNo n) {
    ReplayableFinding r;
    r.finding = makeFinding(FindingKind::MissingFlush);
    r.finding.crashState = CrashState{CrashLevel(n, UnnamedLines::Newest)};
    r.replay.command = {"x"};
    r.replay.at = n;
    return r;
  }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  fs::path folder_;
};

TEST_F(FindingFiles, FollowTheOrderOfTheReport) {
  std::vector<ReplayableFinding> replayable{at(1), at(2), at(3)};
  Report report;
  report.findings = {replayable[2].finding, makeFinding(FindingKind::IdleFence), replayable[0].finding};
  saveReplays(report, replayable, folder_.string());
  EXPECT_EQ(report.findings[0].replay, path("finding-1.blackout"));
  EXPECT_FALSE(report.findings[1].replay);
  EXPECT_EQ(report.findings[2].replay, path("finding-2.blackout"));
  EXPECT_EQ(openReplay(path("finding-1.blackout"))->at.value(), 3U);
  EXPECT_EQ(openReplay(path("finding-2.blackout"))->at.value(), 1U);
  EXPECT_NE(openReplay(path("finding-1.blackout"))->finding.find("\"at\": 3"), std::string::npos);
  EXPECT_FALSE(fs::exists(path("finding-3.blackout"))) << "a finding that the report does not have";
}

TEST_F(FindingFiles, NoFindingNoFolder) {
  Report report;
  saveReplays(report, {at(1)}, folder_.string());
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(FindingFiles, AnotherFileIsKept) {
  std::vector<ReplayableFinding> first{at(1)}, second{at(2)};
  auto save = [&](const std::vector<ReplayableFinding>& r) {
    Report report;
    report.findings = {r[0].finding};
    saveReplays(report, r, folder_.string());
    return report.notes;
  };
  EXPECT_TRUE(save(first).empty());
  EXPECT_TRUE(save(first).empty()) << "the same again changes nothing";
  EXPECT_FALSE(fs::exists(path("finding-1.blackout~")));
  EXPECT_EQ(save(second).size(), 1U);
  EXPECT_EQ(openReplay(path("finding-1.blackout"))->at.value(), 2U);
  EXPECT_EQ(openReplay(path("finding-1.blackout~"))->at.value(), 1U);
}

TEST_F(FindingFiles, OneThatCannotBeWrittenLosesNoFinding) {
  std::ofstream(folder_) << "no folder";
  std::vector<ReplayableFinding> replayable{at(1)};
  Report report;
  report.findings = {replayable[0].finding};
  saveReplays(report, replayable, folder_.string());
  EXPECT_FALSE(report.findings[0].replay);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_NE(report.notes[0].find("A finding has no replay file: "), std::string::npos) << report.notes[0];
  fs::remove(folder_);
}

TEST_F(FindingFiles, AFolderThatCannotBeIsRefusedBefore) {
  EXPECT_TRUE(checkFindingsFolder(folder_.string(), "--findings"));
  EXPECT_TRUE(checkFindingsFolder((folder_ / "a" / "b").string(), "--findings"));
  EXPECT_FALSE(checkFindingsFolder("", "--findings"));
  EXPECT_FALSE(checkFindingsFolder("/dev/null", "--findings"));
  EXPECT_FALSE(checkFindingsFolder("/dev/null/x", "--findings"));
}

}  // namespace
}  // namespace blackout
