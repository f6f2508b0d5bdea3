// Patterns, the files of suppressions, and what they hide.

#include "findings/suppressions.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "findings/pattern.h"

namespace blackout {
namespace {

namespace fs = std::filesystem;

Finding finding(FindingKind kind = FindingKind::IdleFence) {
  Finding f = makeFinding(kind);
  NumberedPlace first;
  first.stack = {{"drain()", "/home/me/src/pm/drain.h", 3, 1, "/opt/lib/libpm.so.1", true},
                 {"Map::put(int, long) const", "/home/me/src/map.cpp", 9, 1, "/opt/lib/libpm.so.1", false},
                 {"main", "app.c", 20, 0, "/home/me/bin/app", false}};
  NumberedPlace second;
  second.stack = {{"", "", 0, 0, "/usr/lib/libother.so", false}};
  second.alsoFrom = {{{"merged", "/gone/merged.c", 1, 1, "", false}}};
  f.places = {first, second};
  return f;
}

bool hides(const std::string& line, const Finding& f = finding()) {
  Suppressions s;
  EXPECT_TRUE(s.parse(line, "f")) << line;
  return s.rows().size() == 1 && matches(s.rows()[0], f);
}

std::string refused(std::string_view text) {
  Suppressions s;
  auto ok = s.parse(text, "known.txt");
  EXPECT_FALSE(ok) << text;
  return ok ? std::string() : ok.error().sentence;
}

// The definition: what a star stands for is tried out.
bool slowGlob(std::string_view p, std::string_view t) {
  if (p.empty()) return t.empty();
  if (p[0] == '*') return slowGlob(p.substr(1), t) || (!t.empty() && slowGlob(p, t.substr(1)));
  return !t.empty() && (p[0] == '?' || p[0] == t[0]) && slowGlob(p.substr(1), t.substr(1));
}

RC_GTEST_PROP(Pattern, GlobIsItsDefinition, ()) {
  auto word = [](const char* letters) {
    return *rc::gen::resize(10, rc::gen::container<std::string>(rc::gen::elementOf(std::string(letters))));
  };
  std::string pattern = word("ab*?");
  std::string text = word("ab");
  RC_ASSERT(matchesGlob(pattern, text) == slowGlob(pattern, text));
}

TEST(Pattern, ManyStarsTakeNoTime) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(matchesGlob(pattern + "b", std::string(5000, 'a')));
}

TEST(Pattern, WholeComponentsAtTheEndOfAPath) {
  EXPECT_TRUE(matchesPath("a.c", "/x/src/a.c"));
  EXPECT_TRUE(matchesPath("src/a.c", "/x/src/a.c"));
  EXPECT_TRUE(matchesPath("/x/src/a.c", "/x/src/a.c"));
  EXPECT_TRUE(matchesPath("a.c", "a.c"));
  EXPECT_TRUE(matchesPath("src/*", "/x/src/deep/a.c"));
  EXPECT_TRUE(matchesPath("lib?.so*", "/x/liba.so.1"));
  EXPECT_FALSE(matchesPath("rc/a.c", "/x/src/a.c"));
  EXPECT_FALSE(matchesPath("src", "/x/src/a.c"));
  EXPECT_FALSE(matchesPath("/src/a.c", "/x/src/a.c"));
  EXPECT_FALSE(matchesPath("*", ""));
  EXPECT_FALSE(matchesPath("?", "/x/"));
}

TEST(Pattern, FunctionsWithAndWithoutParameters) {
  EXPECT_TRUE(matchesFunction("f", "f"));
  EXPECT_TRUE(matchesFunction("f", "f(int)"));
  EXPECT_TRUE(matchesFunction("f(int)", "f(int)"));
  EXPECT_FALSE(matchesFunction("f(long)", "f(int)"));
  EXPECT_FALSE(matchesFunction("f", "ff(int)"));
  EXPECT_FALSE(matchesFunction("put", "Map::put(int)"));
  EXPECT_TRUE(matchesFunction("*::put", "Map::put(int)"));
  EXPECT_FALSE(matchesFunction("*", ""));
  EXPECT_EQ(withoutParameters("Map::put(int, void (*)(int)) const"), "Map::put");
  EXPECT_EQ(withoutParameters("Less::operator()(int) const &"), "Less::operator()");
  EXPECT_EQ(withoutParameters("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
  EXPECT_EQ(withoutParameters("(anonymous namespace)::f"), "(anonymous namespace)::f");
  EXPECT_EQ(withoutParameters("f(int) [clone .cold]"), "f");
  EXPECT_EQ(withoutParameters("broken)"), "broken)");
  EXPECT_EQ(withoutParameters("(int)"), "(int)");
}

TEST(Suppressions, MatchAnyCallOfAnyPlace) {
  for (const char* pattern :
       {"drain", "drain()", "Map::put", "Map::put(int, long) const", "main", "merged", "drain.h", "pm/drain.h", "app.c",
        "merged.c", "libpm.so.1", "lib/libpm.so.1", "libother.so", "bin/app", "Map::*", "libpm.so*", "*"})
    EXPECT_TRUE(hides(std::string("idle-fence:") + pattern)) << pattern;
  for (const char* pattern : {"drai", "put", "rain.h", "src", "libpm.so", "lib", "?", "drain.c"})
    EXPECT_FALSE(hides(std::string("idle-fence:") + pattern)) << pattern;
}

// Of an unprotected store it matters what is stored, and not by whom.
TEST(Suppressions, MatchTheFieldOfAnUnprotectedStore) {
  Finding f = finding(FindingKind::UnprotectedStore);
  OtherSide claim;
  claim.store.bytes.type = "Super.files";
  f.claim = claim;
  for (const char* pattern : {"Super.files", "Super.*", "main"})
    EXPECT_TRUE(hides(std::string("unprotected-store:") + pattern, f)) << pattern;
  for (const char* pattern : {"Super", "files", "Super.blocks"})
    EXPECT_FALSE(hides(std::string("unprotected-store:") + pattern, f)) << pattern;
  EXPECT_FALSE(hides("mechanism:Super.files", f));
}

TEST(Suppressions, MatchTheirKindOrClassOnly) {
  EXPECT_TRUE(hides("performance:main"));
  EXPECT_FALSE(hides("clean-flush:main"));
  EXPECT_FALSE(hides("race:main"));
  EXPECT_FALSE(hides("performance:main", finding(FindingKind::NeverPersisted)));
  EXPECT_TRUE(hides("race:main", finding(FindingKind::CrossFailureRace)));
  EXPECT_TRUE(hides("semantic:main", finding(FindingKind::StaleRead)));
  for (const FindingKindRow& row : findingKinds())
    EXPECT_TRUE(hides(std::string(row.name) + ":main", finding(row.kind))) << row.name;
}

TEST(Suppressions, CommentsBlanksAndLineEnds) {
  Suppressions s;
  ASSERT_TRUE(
      s.parse("# idle-fence:a\n\n  \t\n  idle-fence : f ()  \r\n\t# more\nrace:src/#a.c # ticket 5", "known.txt"));
  ASSERT_EQ(s.rows().size(), 2U);
  EXPECT_EQ(s.rows()[0].line, 4U);
  EXPECT_EQ(s.rows()[0].file, "known.txt");
  EXPECT_EQ(s.rows()[0].text, "idle-fence : f ()");
  EXPECT_EQ(s.rows()[0].pattern, "f ()");
  EXPECT_EQ(s.rows()[1].line, 6U);
  EXPECT_EQ(s.rows()[1].pattern, "src/#a.c");
  // Only the first colon is one of ours.
  ASSERT_TRUE(s.parse("idle-fence:Map::put", "more"));
  EXPECT_EQ(s.rows()[2].pattern, "Map::put");
}

// As some editors save it.
TEST(Suppressions, AByteOrderMarkIsNoPartOfTheFirstLine) {
  Suppressions s;
  ASSERT_TRUE(s.parse("\xef\xbb\xbfidle-fence:main\nrace:f\n", "known.txt"));
  ASSERT_EQ(s.rows().size(), 2U);
  EXPECT_EQ(s.rows()[0].text, "idle-fence:main");
  EXPECT_EQ(s.rows()[0].line, 1U);
  EXPECT_EQ(refused("race:f\n\xef\xbb\xbfrace:f\n").find("--suppressions known.txt:2: "), 0U) << "at the start only";
}

TEST(Suppressions, WrongLinesAreNamed) {
  EXPECT_EQ(refused("\n\nidle-fence"),
            "--suppressions known.txt:3: 'idle-fence' has no colon; a suppression is kind:pattern, as "
            "idle-fence:drain*");
  std::string unknown = refused("# x\nidle-fences:main");
  EXPECT_TRUE(
      unknown.starts_with("--suppressions known.txt:2: no finding is called 'idle-fences'; it is one of: race, "
                          "semantic, performance, program-bug, missing-flush,"))
      << unknown;
  for (const FindingKindRow& row : findingKinds()) EXPECT_NE(unknown.find(row.name), std::string::npos);
  EXPECT_NE(refused("*:main").find("no finding is called '*'"), std::string::npos);
  EXPECT_NE(refused(":main").find("no finding is called ''"), std::string::npos);
  EXPECT_NE(refused("shown:main").find("no finding is called"), std::string::npos);
  EXPECT_NE(refused("idle-fence:  ").find("known.txt:1: 'idle-fence:' has no pattern"), std::string::npos);
  EXPECT_NE(refused(std::string_view("race:a\nrace:\0b\n", 15)).find("known.txt:2: it is not a text file"),
            std::string::npos);
  EXPECT_NE(refused("\x7f"
                    "ELF\x02")
                .find("known.txt:1: it is not a text file"),
            std::string::npos);
}

class SuppressionFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("blackout-suppressions-" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string write(const char* name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  fs::path folder_;
};

TEST_F(SuppressionFiles, AreReadInTheirOrder) {
  auto s = Suppressions::read({write("a", "race:a\n"), write("b", "race:b")});
  ASSERT_TRUE(s);
  ASSERT_EQ(s->rows().size(), 2U);
  EXPECT_EQ(s->rows()[1].pattern, "b");
  EXPECT_TRUE(Suppressions::read({write("empty", "")})->rows().empty());
}

TEST_F(SuppressionFiles, ThatCantBeReadAreNamed) {
  for (const std::string& path : {(folder_ / "missing").string(), folder_.string()}) {
    auto s = Suppressions::read({path});
    ASSERT_FALSE(s);
    EXPECT_NE(s.error().sentence.find("--suppressions " + path + ": it can't be read: "), std::string::npos);
    EXPECT_EQ(s.error().exit, ExitCode::Usage);
  }
}

TEST_F(SuppressionFiles, AreBounded) {
  std::string most(kMaxSuppressionFile, '\n');
  EXPECT_TRUE(Suppressions::read({write("most", most)}));
  auto s = Suppressions::read({write("more", most + "\n")});
  ASSERT_FALSE(s);
  EXPECT_NE(s.error().sentence.find("larger than 1048576 bytes"), std::string::npos);
  EXPECT_FALSE(Suppressions::read({"/dev/zero"}));  // it has no end
}

TEST(Suppressions, WhatTheyHideIsCountedForTheFirstThatMatches) {
  Report r;
  r.findings = {finding(), finding(FindingKind::NeverPersisted), finding(FindingKind::CleanFlush)};
  Suppressions s;
  ASSERT_TRUE(s.parse("missing-flush:main\nidle-fence:main\nperformance:main\nidle-fence:drain\n", "known.txt"));
  applySuppressions(r, s);
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].kind, FindingKind::NeverPersisted);
  std::vector<SuppressionUse> uses = {{"known.txt", 1, "missing-flush:main", 0},
                                      {"known.txt", 2, "idle-fence:main", 1},
                                      {"known.txt", 3, "performance:main", 1},
                                      {"known.txt", 4, "idle-fence:drain", 0}};
  EXPECT_EQ(r.suppressions, uses);
  EXPECT_EQ(r.suppressed(), 2U);
  EXPECT_EQ(exitCodeOf(r, FailOn::Performance), ExitCode::Findings);
  ASSERT_TRUE(s.parse("never-persisted:*", "known.txt"));
  r.suppressions.clear();
  applySuppressions(r, s);
  EXPECT_EQ(exitCodeOf(r, FailOn::Performance), ExitCode::Clean);
}

TEST(Suppressions, NoneHideNothing) {
  Report r;
  r.findings = {finding()};
  applySuppressions(r, {});
  EXPECT_EQ(r.findings.size(), 1U);
  EXPECT_TRUE(r.suppressions.empty());
}

TEST(ReadySuppressions, NameTheInnermostFunctionThatIsKnown) {
  EXPECT_EQ(suppressionFor(finding()), "idle-fence:drain()");
  Finding f = finding();
  f.places[0].stack[0].function.clear();
  EXPECT_EQ(suppressionFor(f), "idle-fence:Map::put(int, long) const");
  f.places.erase(f.places.begin());
  EXPECT_EQ(suppressionFor(f), "idle-fence:/usr/lib/libother.so");
  f.places[0].stack[0].file = "/x/y.c";
  EXPECT_EQ(suppressionFor(f), "idle-fence:/x/y.c");
  f.places.clear();
  EXPECT_EQ(suppressionFor(f), "");
  EXPECT_EQ(suppressionsFor({finding(), f, finding(), finding(FindingKind::CleanFlush)}),
            (std::vector<std::string>{"idle-fence:drain()", "clean-flush:drain()"}));
}

RC_GTEST_PROP(ReadySuppressions, HideTheirFinding, (const std::string& function, const std::string& file)) {
  Finding f = makeFinding(FindingKind::MissingFlush);
  f.places.emplace_back();
  f.places[0].stack = {{function, file, 1, 1, "/bin/x", false}};
  Suppressions s;
  RC_ASSERT(s.parse(suppressionFor(f), "ready").has_value());
  RC_ASSERT(s.rows().size() == 1U);
  RC_ASSERT(matches(s.rows()[0], f));
}

}  // namespace
}  // namespace blackout
