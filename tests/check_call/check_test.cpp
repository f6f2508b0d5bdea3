// The check as a call: options in, a report out, nothing printed and no state left behind.

#include "check/check.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tiny_program.h"

namespace blackout {

namespace {

using test::TinyProgram;

class CheckCall : public ::testing::Test {
 protected:
  CheckCall() : folder_(std::filesystem::temp_directory_path() / ("blackout-check-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~CheckCall() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  CheckOptions optionsFor(TinyProgram& p, const std::string& name) {
    CheckOptions options;
    options.trace = (folder_ / name).string();
    LoadedModule module;
    module.path = "/no/program";
    module.instrumented = true;
    p.writer.module(module);
    EXPECT_TRUE(p.writer.save(options.trace, true).has_value());
    options.findings = (folder_ / "findings").string();
    return options;
  }
  std::filesystem::path folder_;
};

void storeAt(TinyProgram& p, std::uint64_t offset, std::uint64_t site) {
  Site s;
  s.id = site;
  s.kind = SiteKind::Store;
  p.writer.event(EventKind::Store, 1, p.at(offset), 7, 8, p.writer.where(p.writer.site(s)));
}

TEST_F(CheckCall, JudgesATraceWithoutExploring) {
  TinyProgram p;
  storeAt(p, 0, 11);
  auto report = check(optionsFor(p, "trace"));
  ASSERT_TRUE(report) << report.error().sentence;
  ASSERT_EQ(report->findings.size(), 1U);
  EXPECT_EQ(report->findings[0].kind, FindingKind::NeverPersisted);
  EXPECT_EQ(report->findings[0].places[0].siteId, 11U);
  EXPECT_FALSE(report->exploration);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "findings"));
}

TEST_F(CheckCall, WhatCantBeReadIsAnError) {
  CheckOptions options;
  options.trace = (folder_ / "none").string();
  EXPECT_FALSE(check(options));
}

// Several recordings, one index each, judged one after the other or both at hand: their sum has each cause once.
TEST_F(CheckCall, ReportsOfSeveralRecordingsAddUp) {
  TinyProgram one, other;
  storeAt(one, 0, 11);
  storeAt(other, 0, 11);
  storeAt(other, 64, 12);
  auto first = check(optionsFor(one, "one"));
  auto second = check(optionsFor(other, "other"));
  ASSERT_TRUE(first && second);
  Report sum;
  sum += *first;
  sum += *second;
  ASSERT_EQ(sum.findings.size(), 2U);
  EXPECT_EQ(sum.findings[0].counts.times, 2U);
  EXPECT_EQ(sum.run.stores, 3U);
}

}  // namespace

}  // namespace blackout
