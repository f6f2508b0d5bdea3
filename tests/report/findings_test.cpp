// The finding as data: kinds, fingerprints, order, grouping, exit codes, endings and --only.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "events/trace.h"
#include "findings/ending.h"
#include "findings/only.h"
#include "findings/run_summary.h"
#include "sample_report.h"
#include "sample_trace.h"

namespace blackout {
namespace {

Finding at(FindingKind kind, std::uint64_t site, std::uint64_t times = 1) {
  Finding f = makeFinding(kind);
  NumberedPlace p;
  p.label = "here";
  p.siteId = site;
  f.places = {p};
  f.counts = {times, times};
  return f;
}

TEST(FindingKinds, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (const FindingKindRow& row : findingKinds()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(findingKindNamed(row.name), row.kind);
    EXPECT_EQ(&rowOf(row.kind), &row);
    EXPECT_FALSE(row.title.empty() || row.meaning.empty() || row.hint.empty());
  }
  EXPECT_FALSE(findingKindNamed("no-such-kind"));
  EXPECT_EQ(failOnNamed("perf"), FailOn::Performance);
  EXPECT_FALSE(failOnNamed("bad"));
}

TEST(Fingerprint, IsOfKindAndSitesOnly) {
  Finding a = at(FindingKind::NeverPersisted, 5);
  Finding b = a;
  b.counts = {99, 100};
  b.examples = {{"/p", 1, 2, ""}};
  b.claim = NotDurable{};
  b.evidence = {NeverDurable{}, TriedDurable{CureKind::Flush}};
  b.places[0].label = "other";
  b.places[0].stack = {{"f", "x.c", 3, 0, "", false}};
  EXPECT_EQ(fingerprint(a), fingerprint(b));
  EXPECT_NE(fingerprint(a), fingerprint(at(FindingKind::NeverPersisted, 6)));
  EXPECT_NE(fingerprint(a), fingerprint(at(FindingKind::CleanFlush, 5)));
  EXPECT_EQ(fingerprintText(a).size(), 16U);
  // What only the chosen state shows is no part of it.
  NumberedPlace incidental;
  incidental.siteId = 77;
  incidental.incidental = true;
  b.places.push_back(incidental);
  EXPECT_EQ(fingerprint(a), fingerprint(b));
  b.places.back().incidental = false;
  EXPECT_NE(fingerprint(a), fingerprint(b));
  // It stands in users' files: the value itself must not change.
  EXPECT_EQ(fingerprintText(a), "61e7cb09f3cb592a");
  // Callers of one instruction that are told apart.
  Finding c = a, d = a;
  c.places[0].caller = "insert#1";
  d.places[0].caller = "insert#2";
  EXPECT_NE(fingerprint(a), fingerprint(c));
  EXPECT_NE(fingerprint(c), fingerprint(d));
}

// What no place of its own names is named by what the restart does, and where.
TEST(Fingerprint, OfWhatHasNoPlaceOfItsOwn) {
  auto shown = [](const std::string& symptom, const std::string& function, std::uint32_t line) {
    Finding f = makeFinding(FindingKind::RecoveryFails);
    NumberedPlace fails;
    fails.label = "the restart fails here";
    fails.incidental = true;
    fails.stack = {{function, "x.c", line, 0, "", false}};
    f.places = {fails};
    f.shownBy.emplace();
    f.shownBy->symptom = symptom;
    f.shownBy->failsAt = 1;
    return f;
  };
  Finding a = shown("crashes with SIGSEGV", "get", 7);
  EXPECT_EQ(fingerprint(a), fingerprint(shown("crashes with SIGSEGV", "get", 9)));
  EXPECT_NE(fingerprint(a), fingerprint(shown("crashes with SIGBUS", "get", 7)));
  EXPECT_NE(fingerprint(a), fingerprint(shown("crashes with SIGSEGV", "put", 7)));
  // With a place of its own that does not matter.
  Finding b = shown("crashes with SIGSEGV", "get", 7), c = shown("exits with 1", "put", 9);
  for (Finding* f : {&b, &c}) f->places.push_back(at(FindingKind::RecoveryFails, 5).places[0]);
  EXPECT_EQ(fingerprint(b), fingerprint(c));
}

TEST(Order, WorstFirstWhateverTheInput) {
  Report sample = test::sampleReport("/src");
  std::vector<Finding> shuffled = sample.findings;
  std::mt19937 random(1);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    std::vector<Finding> sorted = shuffled;
    sortFindings(sorted);
    EXPECT_EQ(sorted, sample.findings);
  }
  EXPECT_EQ(sample.findings.front().severity, Severity::Shown);
  EXPECT_EQ(sample.findings.back().severity, Severity::Performance);
  // Of one kind, the more frequent first.
  EXPECT_EQ(sample.findings[4].counts.times, 100U);
}

TEST(ExitCodes, FollowFailOn) {
  Report r;
  EXPECT_EQ(exitCodeOf(r, FailOn::Performance), ExitCode::Clean);
  r.findings = {at(FindingKind::IdleFence, 1)};
  EXPECT_EQ(exitCodeOf(r, FailOn::Suspected), ExitCode::Clean);
  EXPECT_EQ(exitCodeOf(r, FailOn::Performance), ExitCode::Findings);
  r.incomplete = {"x"};
  EXPECT_EQ(exitCodeOf(r, FailOn::Suspected), ExitCode::Inconclusive);
  r.findings.push_back(at(FindingKind::NeverPersisted, 1));
  EXPECT_EQ(exitCodeOf(r, FailOn::Shown), ExitCode::Inconclusive);
  EXPECT_EQ(exitCodeOf(r, FailOn::Proved), ExitCode::Inconclusive);
  EXPECT_EQ(exitCodeOf(r, FailOn::Suspected), ExitCode::Findings);
  // A restart that says what it should not is a proof.
  r.findings.back().shownBy.emplace();
  EXPECT_EQ(exitCodeOf(r, FailOn::Shown), ExitCode::Inconclusive);
  EXPECT_EQ(exitCodeOf(r, FailOn::Proved), ExitCode::Findings);
  // Unless it did not say it again.
  r.findings.back().evidence = {NotRepeated{}};
  EXPECT_EQ(exitCodeOf(r, FailOn::Proved), ExitCode::Inconclusive);
  // Or was not asked again.
  r.findings.back().evidence = {NotRunAgain{}};
  EXPECT_EQ(exitCodeOf(r, FailOn::Proved), ExitCode::Inconclusive);
}

TEST(Ending, IsToldApart) {
  EXPECT_EQ(endingText(0), "");
  EXPECT_EQ(endingText(3 << 8), "exit code 3");
  EXPECT_EQ(endingText(11), "signal SIGSEGV (Segmentation fault)");
  EXPECT_EQ(endingText(11 | 128), "signal SIGSEGV (Segmentation fault)");
  Report r;
  r.run.waitStatus = 0;
  tellEnding(r, false);
  EXPECT_TRUE(r.notes.empty() && r.complete());
  r.run.waitStatus = 1 << 8;
  tellEnding(r, true);
  ASSERT_EQ(r.notes.size(), 1U);
  EXPECT_EQ(r.notes[0], "The program itself ended with exit code 1, without a simulated crash.");
  EXPECT_TRUE(r.complete());
  tellEnding(r, false);
  ASSERT_EQ(r.incomplete.size(), 1U);
  EXPECT_NE(r.incomplete[0].find("exit code 1"), std::string::npos);
  r.run.waitStatus = 6;
  tellEnding(r, true);
  ASSERT_EQ(r.incomplete.size(), 2U);
  EXPECT_NE(r.incomplete[1].find("SIGABRT"), std::string::npos);
}

TEST(RunSummary, CountsTheTrace) {
  std::string bytes = test::sampleTrace().sealedBytes();
  auto trace = Trace::fromBytes(test::asBytes(bytes));
  ASSERT_TRUE(trace);
  Report r;
  summarise(*trace, r);
  EXPECT_EQ(r.run.flushes, 3U);
  EXPECT_EQ(r.run.fences, 3U) << "lfence is none";
  EXPECT_EQ(r.run.loads, 2U);
  EXPECT_EQ(r.run.operations, 2U);
  EXPECT_EQ(r.run.threads, 2U);
  EXPECT_EQ(r.run.waitStatus, 0);
  ASSERT_EQ(r.pools.size(), 2U);
  EXPECT_EQ(r.pools[0], (PoolSummary{"/pool/a.img", 8192, false, false}));
  EXPECT_EQ(r.pools[1], (PoolSummary{"/pool/c.img", 4096, true, true}));
  EXPECT_TRUE(r.complete());
}

TEST(RunSummary, SaysWhyATraceIsNotWhole) {
  std::string bytes = test::sampleTrace().bytes();
  auto& header = *reinterpret_cast<blackout_trace_header*>(bytes.data());
  header.problems = BLACKOUT_PROBLEM_DISK | BLACKOUT_PROBLEM_SIGNAL;
  header.lost = 5;
  auto trace = Trace::fromBytes(test::asBytes(bytes));
  ASSERT_TRUE(trace);
  Report r;
  summarise(*trace, r);
  EXPECT_EQ(r.incomplete.size(), 4U) << "no end, disk, signal, lost";
}

TEST(PlaceOf, TakesTheSiteFromTheTrace) {
  std::string bytes = test::sampleTrace().sealedBytes();
  auto trace = Trace::fromBytes(test::asBytes(bytes));
  ASSERT_TRUE(trace);
  NumberedPlace p = placeOf(*trace, "written here", 1);
  EXPECT_EQ(p.siteId, test::sampleSite().id);
  EXPECT_EQ(p.access, "store");
  EXPECT_EQ(p.size, 8U);
  EXPECT_EQ(p.type, "Node.next");
  EXPECT_EQ(placeOf(*trace, "unknown", 0).siteId, 0U);
}

class Only : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() / ("blackout-only-" + std::to_string(getpid()));
    std::filesystem::create_directories(root_ / "mine/sub");
    std::filesystem::create_directories(root_ / "mine2");
    std::ofstream(root_ / "mine/a.c") << "\n";
    std::filesystem::create_directory_symlink(root_ / "mine", root_ / "link");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::string in(const char* path) const { return (root_ / path).string(); }
  std::filesystem::path root_;
};

TEST_F(Only, KeepsWhatIsBelow) {
  auto filter = OnlyFilter::make({in("mine")});
  ASSERT_TRUE(filter);
  EXPECT_TRUE(filter->keepsFile(in("mine/a.c")));
  EXPECT_TRUE(filter->keepsFile(in("mine/sub/../a.c")));
  EXPECT_TRUE(filter->keepsFile(in("mine/gone.c"))) << "a source that is not there any more";
  EXPECT_TRUE(filter->keepsFile(in("link/a.c")));
  EXPECT_FALSE(filter->keepsFile(in("mine2/a.c")));
  EXPECT_FALSE(filter->keepsFile(""));
  auto link = OnlyFilter::make({in("link/")});
  ASSERT_TRUE(link);
  EXPECT_TRUE(link->keepsFile(in("mine/a.c")));
  auto file = OnlyFilter::make({in("mine/a.c")});
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->keepsFile(in("mine/a.c")));
  EXPECT_FALSE(file->keepsFile(in("mine/b.c")));
}

TEST_F(Only, AnyFrameOfAnyPlaceCounts) {
  Finding f = at(FindingKind::CleanFlush, 1);
  f.places[0].stack = {{"lib", "/usr/include/lib.h", 1, 0, "", true}, {"mine", in("mine/a.c"), 2, 0, "", false}};
  Finding g = at(FindingKind::CleanFlush, 2);
  g.places[0].stack = {{"lib", "/usr/include/lib.h", 1, 0, "", false}};
  Finding h = g;
  h.places[0].alsoFrom = {{{"lib", "/usr/include/lib.h", 1, 0, "", true}, {"mine", in("mine/a.c"), 2, 0, "", false}}};
  Report r;
  r.findings = {f, g, h};
  applyOnly(r, *OnlyFilter::make({in("mine")}));
  EXPECT_EQ(r.findings.size(), 2U);
  EXPECT_EQ(r.hiddenByOnly, 1U);
  applyOnly(r, *OnlyFilter::make({}));
  EXPECT_EQ(r.findings.size(), 2U);
}

TEST_F(Only, AMistypedPathIsAnError) {
  auto filter = OnlyFilter::make({in("mien")});
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error().exit, ExitCode::Usage);
}

}  // namespace
}  // namespace blackout
