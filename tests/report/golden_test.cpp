// Renderings against golden files. BLACKOUT_UPDATE_GOLDEN=1 writes them anew: read the difference
// before committing it.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "report/json.h"
#include "report/junit.h"
#include "report/sarif.h"
#include "report/text.h"
#include "sample_report.h"

namespace blackout {
namespace {

const std::string kGolden = BLACKOUT_GOLDEN_FOLDER;

void expectGolden(const std::string& name, const std::string& actual) {
  std::string path = kGolden + "/" + name;
  if (std::getenv("BLACKOUT_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << actual;
  std::ifstream in(path, std::ios::binary);
  std::string expected(std::istreambuf_iterator<char>(in), {});
  EXPECT_EQ(actual, expected) << "BLACKOUT_UPDATE_GOLDEN=1 takes the new text as golden";
}

TEST(Golden, Text) {
  TextOptions options;
  options.root = kGolden;
  expectGolden("report.txt", renderText(test::sampleReport(kGolden), options));
}

TEST(Golden, TextOfACleanRun) {
  Report r;
  r.run.events = 1;
  r.run.stores = 1;
  r.detectors = {"never-persisted"};
  r.run.log10States = 1.0;
  expectGolden("clean.txt", renderText(r, {}));
}

TEST(Golden, TextOfACleanExploration) {
  Report r;
  r.run.events = 1;
  r.run.stores = 1;
  r.detectors = {"never-persisted"};
  ExploredCrashes& e = r.exploration.emplace();
  e.strategy = "lazy";
  e.command = {"./list"};
  e.points = e.completePoints = 1;
  e.runs = e.states = 1;
  expectGolden("explored.txt", renderText(r, {}));
}

TEST(Golden, TextInFull) {
  TextOptions options;
  options.root = kGolden;
  options.detail = Detail::Verbose;
  expectGolden("verbose.txt", renderText(test::sampleReport(kGolden), options));
}

TEST(Golden, TextInBrief) {
  TextOptions options;
  options.root = kGolden;
  options.detail = Detail::Quiet;
  expectGolden("quiet.txt", renderText(test::sampleReport(kGolden), options));
}

TEST(Golden, Sarif) {
  expectGolden("report.sarif", renderSarif(test::sampleReport("/src"), FailOn::Suspected, "/src"));
}

TEST(Golden, Junit) { expectGolden("junit.xml", renderJunit(test::sampleReport("/src"), FailOn::Suspected, "/src")); }

TEST(Golden, Json) { expectGolden("report.json", renderJson(test::sampleReport("/src"), FailOn::Suspected)); }

// What golden reports don't have is in the schema, too.
template <class... T>
std::vector<std::string_view> namesOf(const std::variant<T...>*) {
  return {T::kName...};
}
TEST(Json, TheSchemaKnowsEveryKindClaimAndFact) {
  std::ifstream in(BLACKOUT_REPORT_SCHEMA);
  std::string schema(std::istreambuf_iterator<char>(in), {});
  auto has = [&](const std::string& text) { return schema.find(text) != std::string::npos; };
  EXPECT_TRUE(has("\"schema\": {\"const\": " + std::to_string(kReportSchema) + "}"));
  EXPECT_TRUE(has("urn:blackout:report:" + std::to_string(kReportSchema)));
  for (const FindingKindRow& row : findingKinds()) EXPECT_TRUE(has("\"" + std::string(row.name) + "\"")) << row.name;
  for (auto names : {namesOf(static_cast<const Claim*>(nullptr)), namesOf(static_cast<const Fact*>(nullptr))})
    for (std::string_view name : names) EXPECT_TRUE(has("\"is\": {\"const\": \"" + std::string(name) + "\"}")) << name;
}

TEST(Text, ColoursOnlyWhenAsked) {
  TextOptions options;
  EXPECT_EQ(renderText(test::sampleReport(kGolden), options).find('\033'), std::string::npos);
  options.color = true;
  EXPECT_NE(renderText(test::sampleReport(kGolden), options).find("\033[1;35msuspected:\033[0m"), std::string::npos);
  // The program's own escape stays an escape.
  EXPECT_NE(renderText(test::sampleReport(kGolden), options).find("push\\x1b[31m"), std::string::npos);
}

TEST(Text, NoColourInAFile) {
  std::FILE* null = std::fopen("/dev/null", "w");
  ASSERT_NE(null, nullptr);
  EXPECT_FALSE(wantsColor(fileno(null)));
  std::fclose(null);
}

TEST(Text, SameTwice) {
  Report r = test::sampleReport(kGolden);
  EXPECT_EQ(renderText(r, {}), renderText(r, {}));
  EXPECT_EQ(renderJson(r, FailOn::Shown), renderJson(r, FailOn::Shown));
}

TEST(Text, BeginsWithTheVerdictAndALineForEachFinding) {
  Report r = test::sampleReport("/src");
  std::istringstream text(renderText(r, {.color = false, .root = "/src", .detail = Detail::Normal}));
  std::string line;
  std::getline(text, line);
  EXPECT_EQ(line, verdictLine(r));
  EXPECT_TRUE(line.starts_with("blackout: findings: 1 shown, 3 suspected, 2 performance")) << line;
  for (const Finding& f : r.findings) {
    std::getline(text, line);
    EXPECT_EQ(line, findingLine(f, "/src"));
  }
  // As compilers write them, so that editors find the place; numbers of places that follow are no part of it.
  EXPECT_EQ(
      findingLine(r.findings.front(), "/src").find("list.cpp:11:8: error: List.head, stored here, is never flushed"),
      0U)
      << findingLine(r.findings.front(), "/src");
  for (const Finding& f : r.findings) EXPECT_EQ(findingLine(f, "/src").find("(1)"), std::string::npos);
}

TEST(Text, WhatIsHiddenIsNotClean) {
  Report r;
  r.exploration.emplace();
  EXPECT_TRUE(verdictLine(r).starts_with("blackout: clean: ")) << verdictLine(r);
  r.hiddenAsKnown = 2;
  EXPECT_TRUE(verdictLine(r).starts_with("blackout: clean (2 in the baseline): ")) << verdictLine(r);
  r.incomplete = {"Something was not seen.", "Nor was that."};
  EXPECT_EQ(verdictLine(r), "blackout: inconclusive, nothing found (2 in the baseline): 2 reasons are below");
  r.exploration.reset();
  r.incomplete.clear();
  EXPECT_EQ(verdictLine(r), "blackout: no findings (2 in the baseline); crashes were not explored");
}

TEST(Text, EndsWithTheSummaryLine) {
  std::string text = renderText(test::sampleReport(kGolden), {});
  ASSERT_EQ(text.back(), '\n');
  text.pop_back();
  EXPECT_EQ(text.substr(text.rfind('\n') + 1), summaryLine(test::sampleReport(kGolden)));
}

std::string costLine(const Cost& cost) {
  Report r;
  r.findings = {makeFinding(FindingKind::CleanFlush)};
  r.findings[0].cost = cost;
  std::string text = renderText(r, {});
  std::size_t at = text.find("  costs:");
  return at == std::string::npos ? std::string() : text.substr(at, text.find('\n', at) - at);
}

TEST(Text, Costs) {
  EXPECT_EQ(costLine({12, 340, "flush"}), "  costs:     12 of 340 flushes (3.5%)");
  EXPECT_EQ(costLine({1, 1, "flush"}), "  costs:     1 of 1 flush (100.0%)");
  EXPECT_EQ(costLine({1, 123456, "fence"}), "  costs:     1 of 123,456 fences (less than 0.1%)");
  EXPECT_EQ(costLine({64, 128, "logged byte"}), "  costs:     64 of 128 logged bytes (50.0%)");
}

TEST(Text, WhatIsHiddenProvesNothing) {
  Report r;
  r.run.stores = 1;
  r.detectors = {"never-persisted"};
  auto proves = [&] { return renderText(r, {}).find("every store to the pools") != std::string::npos; };
  EXPECT_TRUE(proves());
  r.suppressions = {{"known.txt", 1, "race:f", 0}};
  EXPECT_TRUE(proves());
  r.suppressions[0].findings = 1;
  EXPECT_FALSE(proves());
  EXPECT_NE(summaryLine(r).find("no findings (1 suppressed);"), std::string::npos);
  r.suppressions.clear();
  r.trusted = {"/lib/libpm.so"};
  EXPECT_FALSE(proves());
  EXPECT_NE(renderText(r, {}).find("libpm.so is trusted"), std::string::npos);
}

TEST(Json, BrokenUtf8IsReplaced) {
  Report r;
  r.command = {"\xff\xfe"};
  EXPECT_NE(renderJson(r, FailOn::Shown).find("\xef\xbf\xbd"), std::string::npos);
}

}  // namespace
}  // namespace blackout
