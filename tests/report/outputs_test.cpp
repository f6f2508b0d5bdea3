// The report for other tools: limits of those who take it, names that want to be more than names, and the baseline.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "report/json.h"
#include "report/junit.h"
#include "report/known_findings.h"
#include "report/sarif.h"
#include "report/saved_finding.h"
#include "sample_report.h"

namespace blackout {
namespace {

using testing::HasSubstr;

Report hostile() {
  Report r = test::sampleReport("/src");
  const std::string names[] = {"</script><script>alert(1)</script>",
                               "\x1b[31m\x1b]0;x\x07",
                               "a\xff\xfe"
                               "b\n::error::",
                               "\xe2\x80\xae"
                               "fdp.exe",
                               std::string(20000, 'x'),
                               "[link](javascript:alert(1))"};
  for (std::size_t i = 0; i < r.findings.size(); ++i) {
    const std::string& name = names[i % std::size(names)];
    r.findings[i].operation = name;
    for (NumberedPlace& p : r.findings[i].places) {
      p.label += name;
      for (Frame& f : p.stack) {
        f.function = name;
        f.file += name;
      }
    }
    if (r.findings[i].shownBy) r.findings[i].shownBy->symptom = name;
  }
  r.command = {names[0], names[1], names[2]};
  r.notes = {names[5], names[4]};
  r.incomplete = {names[3]};
  return r;
}

TEST(Sarif, NamesAreOnlyNames) {
  std::string text = renderSarif(hostile(), FailOn::Suspected, "/src");
  auto sarif = nlohmann::json::parse(text);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  for (const auto& result : sarif["runs"][0]["results"]) {
    EXPECT_LE(result["message"]["text"].get<std::string>().size(), 1024U);
    const auto flows = result.value("codeFlows", nlohmann::json::array());
    const auto steps = flows.empty() ? nlohmann::json::array() : flows[0]["threadFlows"][0]["locations"];
    for (const auto& step : steps)
      EXPECT_EQ(step["location"]["message"]["text"].get<std::string>().find("](javascript"), std::string::npos);
    const auto locations = result.value("locations", nlohmann::json::array());
    for (const auto& location : locations) {
      auto uri = location["physicalLocation"]["artifactLocation"]["uri"].get<std::string>();
      EXPECT_EQ(uri.find_first_of("<>\"\x1b\n "), std::string::npos) << uri;
    }
  }
}

TEST(Sarif, NoMoreThanCodeScanningTakes) {
  Report r;
  r.findings.assign(kMostSarifResults + 3, makeFinding(FindingKind::CleanFlush));
  auto sarif = nlohmann::json::parse(renderSarif(r, FailOn::Shown, ""));
  EXPECT_EQ(sarif["runs"][0]["results"].size(), kMostSarifResults);
  EXPECT_THAT(sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].get<std::string>(),
              HasSubstr("3 findings are left out"));
}

// The rules are the kinds, in their order: an index leads to its rule.
TEST(Sarif, RulesHaveStableIds) {
  Report r = test::sampleReport("/src");
  auto run = nlohmann::json::parse(renderSarif(r, FailOn::Shown, "/src"))["runs"][0];
  const auto& rules = run["tool"]["driver"]["rules"];
  ASSERT_EQ(rules.size(), findingKinds().size());
  for (std::size_t i = 0; i < r.findings.size(); ++i) {
    EXPECT_EQ(rules[run["results"][i]["ruleIndex"].get<std::size_t>()]["id"], nameOf(r.findings[i].kind));
    EXPECT_EQ(run["results"][i]["partialFingerprints"]["blackoutFinding/v1"], fingerprintText(r.findings[i]));
  }
}

TEST(Junit, NamesAreOnlyNames) {
  std::string text = renderJunit(hostile(), FailOn::Performance, "/src");
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(text.c_str()));
  for (char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << int(c);
  EXPECT_EQ(text.find("<script>"), std::string::npos);
}

TEST(Junit, WhatFailsTheCommandFails) {
  auto counts = [](const Report& r, FailOn failOn) {
    pugi::xml_document document;
    EXPECT_TRUE(document.load_string(renderJunit(r, failOn, "/src").c_str()));
    pugi::xml_node suite = document.child("testsuites").child("testsuite");
    return std::array{suite.attribute("tests").as_int(), suite.attribute("failures").as_int(),
                      suite.attribute("errors").as_int()};
  };
  Report r = test::sampleReport("/src");
  EXPECT_EQ(counts(r, FailOn::Shown), (std::array{2, 1, 0}));
  EXPECT_EQ(counts(r, FailOn::Suspected), (std::array{5, 4, 0}));
  r.findings.clear();
  EXPECT_EQ(counts(r, FailOn::Shown), (std::array{1, 0, 1})) << "inconclusive is no success";
  r.incomplete.clear();
  EXPECT_EQ(counts(r, FailOn::Shown), (std::array{1, 0, 0}));
}

class BaselineTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "blackout-known-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& text) {
    std::ofstream(folder_ + "/known.json") << text;
    return folder_ + "/known.json";
  }
  std::string folder_;
};

TEST_F(BaselineTest, OnlyWhatIsNewIsLeft) {
  Report r = test::sampleReport("/src");
  Report old = r;
  old.findings.resize(2);
  auto known = readKnownFindings(file(renderJson(old, FailOn::Shown)));
  ASSERT_TRUE(known);
  std::size_t all = r.findings.size();
  leaveOutKnown(r, *known);
  EXPECT_EQ(r.findings.size(), all - 2);
  EXPECT_EQ(r.hiddenAsKnown, 2U);
  for (const Finding& f : r.findings) EXPECT_FALSE(known->contains(fingerprintText(f)));
}

TEST_F(BaselineTest, WhatIsNoReportIsRefused) {
  for (const char* text : {"", "[]", "{}", "{\"findings\": 3}", "{\"findings\": [3]}", "{\"findings\": [{}]}",
                           "{\"findings\": [{\"fingerprint\": 3}]}", "{\"findings\": [", "\xff\xfe"}) {
    auto known = readKnownFindings(file(text));
    ASSERT_FALSE(known) << text;
    EXPECT_THAT(known.error().sentence, HasSubstr("name a report that --json wrote"));
  }
  EXPECT_FALSE(readKnownFindings(folder_));
  EXPECT_FALSE(readKnownFindings(folder_ + "/missing"));
}

TEST(SavedFinding, TakesWhatIsThere) {
  Report r = test::sampleReport("/src");
  auto saved = readSavedFinding(renderJson(r.findings.front()), "x");
  ASSERT_TRUE(saved);
  EXPECT_EQ(saved->kind, "missing-flush");
  EXPECT_EQ(saved->diff, "");
  saved = readSavedFinding(R"({"kind": 3, "fix": {"tried": "so", "diff": "--- a"}})", "x");
  ASSERT_TRUE(saved);
  EXPECT_EQ(saved->kind, "");
  EXPECT_EQ(saved->diff, "--- a");
  EXPECT_FALSE(readSavedFinding("[", "x"));
}

}  // namespace
}  // namespace blackout
