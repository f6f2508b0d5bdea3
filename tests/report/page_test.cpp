// The report as one page: the data in it is the report, whatever texts a program has put there, and the lines around
// each place.
#include "report/page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "report/json.h"
#include "sample_report.h"

namespace blackout {
namespace {

using nlohmann::json;

// What stands between the script element's tags.
json dataOf(const std::string& page) {
  std::size_t begin = page.find("{\"", page.find("application/json"));
  std::size_t end = page.find("</script>", begin);
  if (begin == std::string::npos || end == std::string::npos) return nullptr;
  return json::parse(page.substr(begin, end - begin), nullptr, false);
}

TEST(Page, HoldsTheReport) {
  std::string text = renderJson(test::sampleReport("/nowhere"), FailOn::Shown);
  auto page = renderPage(text, "report.json");
  ASSERT_TRUE(page) << page.error().sentence;
  json data = dataOf(*page), report = json::parse(text);
  ASSERT_TRUE(data.is_object());
  EXPECT_EQ(data["page"]["verdict"], report["verdict"]);
  data.erase("page");
  EXPECT_EQ(data, report);
}

TEST(Page, TextsOfAProgramEndNoElement) {
  json report = json::parse(renderJson(test::sampleReport("/nowhere"), FailOn::Shown));
  report["command"] = {"</script><script>alert(1)</script>", "<!-- & -->"};
  auto page = renderPage(report.dump(), "report.json");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->find("alert(1)</script>"), std::string::npos);
  EXPECT_EQ(page->find("<!-- & -->"), std::string::npos);
  EXPECT_EQ(dataOf(*page)["command"], report["command"]);
}

TEST(Page, HasTheLinesAroundAPlace) {
  std::string file = testing::TempDir() + "page_test_source.c";
  std::ofstream source(file);
  for (int n = 1; n <= 20; ++n) source << "line " << n << "\n";
  source.close();
  json report = json::parse(renderJson(test::sampleReport("/nowhere"), FailOn::Shown));
  json& place = report["findings"][0]["places"][0];
  place["stack"] = json::array({{{"function", "f"}, {"file", file}, {"line", 10}, {"column", 1}}});
  auto page = renderPage(report.dump(), "report.json");
  ASSERT_TRUE(page);
  json lines = dataOf(*page)["page"]["lines"][file];
  EXPECT_EQ(lines.size(), 7U);
  for (int n = 7; n <= 13; ++n) EXPECT_EQ(lines[std::to_string(n)], "line " + std::to_string(n));
}

TEST(Page, WhatIsNoReportIsRefused) {
  for (const char* text :
       {"", "{}", "[]", R"({"counts":{},"run":{},"tool":{}})",
        R"({"counts":{},"run":{},"tool":{},"findings":[1],"incomplete":[],"notes":[],"caveats":[],"command":[]})"}) {
    auto page = renderPage(text, "some.json");
    ASSERT_FALSE(page) << text;
    EXPECT_EQ(page.error().sentence.find("some.json: is no report"), 0U);
  }
}

}  // namespace
}  // namespace blackout
