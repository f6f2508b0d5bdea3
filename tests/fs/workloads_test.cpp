// Workloads as text, and by their numbers.

#include "blackout/fs/workloads.hpp"

#include <gtest/gtest.h>

using namespace blackout::fs;

TEST(Calls, AreWrittenAndReadAgain) {
  std::string text, why;
  std::vector<Call> all;
  for (const CoreCall& core : coreCalls()) {
    all.push_back(core.call);
    text += textOf(core.call) + "  # a comment\n\n";
  }
  auto read = callsOf(text, why);
  ASSERT_TRUE(read) << why;
  EXPECT_EQ(*read, all);
  EXPECT_NE((*read)[0].fill, (*read)[1].fill);
}

TEST(Calls, WhatIsWrongIsSaid) {
  std::string why;
  EXPECT_FALSE(callsOf("creat foo\nmakedir A\n", why));
  EXPECT_EQ(why.rfind("line 2: \"makedir\" is no operation; there are creat mkdir", 0), 0U) << why;
  for (const char* line :
       {"creat", "creat a b", "rename a", "write a 1", "write a 1 99999999", "truncate a -1", "truncate a 1x"})
    EXPECT_FALSE(callsOf(line, why)) << line;
  EXPECT_EQ(why, "line 1: \"truncate\" takes a path and a size (at most 16777216)");
  std::string many;
  for (std::size_t i = 0; i <= kMaxCalls; ++i) many += "creat a\n";
  EXPECT_FALSE(callsOf(many, why));
}

// No operation of a workload fails for want of what it needs, when it is alone.
TEST(Workloads, HaveWhatTheyNeed) {
  for (std::uint64_t n = 0; n < workloadCount(1); ++n) {
    Model model;
    std::vector<Call> calls = workload(1, n);
    for (const Call& call : calls) {
      int result = model.apply(call);
      bool meantToFail = call.operation == Operation::Rename && result == -EINVAL;  // a folder into itself
      bool notEmpty = result == -ENOTEMPTY;                                         // A onto A/C and the like
      EXPECT_TRUE(result == 0 || meantToFail || notEmpty) << textOf(call) << ": " << result;
    }
    EXPECT_EQ(calls.back(), coreCalls()[n].call);
  }
}

// What loses its last name while it is open is open when it does, and closed with the workload's last call at the
// latest.
TEST(Workloads, FilesAreUnlinkedWhileTheyAreOpen) {
  std::size_t without = 0;
  for (std::uint64_t n = 0; n < workloadCount(1); ++n) {
    Model model;
    for (const Call& call : workload(1, n)) {
      model.apply(call);
      for (const auto& [name, content] : model.opened()) without += model.tree().count(name) == 0 ? 1 : 0;
    }
  }
  EXPECT_GE(without, 6U);
  std::string text;
  for (const Call& call : workload(1, workloadCount(1) - 1)) text += textOf(call) + '\n';
  EXPECT_EQ(text, "mkdir A\ncreat A/foo\nwrite A/foo 0 4196\nopen A/foo A/foo\nunlink A/foo\nclose A/foo\n");
}

TEST(Workloads, AreAllDifferent) {
  std::set<std::string> seen;
  for (std::uint64_t n = 0; n < workloadCount(2); n += 7) {
    std::string text;
    for (const Call& call : workload(2, n)) text += textOf(call) + '\n';
    seen.insert(text);
  }
  // Two operations that need nothing of each other may be written alike: rename A over B needs what mkdir B makes.
  EXPECT_GT(seen.size(), workloadCount(2) / 7 * 95 / 100);
}

// By chance, but the same for the same seed; each operation has what it needs, so most of them succeed.
TEST(Workloads, ByChanceAreTheSameForASeed) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<Call> calls = randomWorkload(seed, 30);
    EXPECT_EQ(calls, randomWorkload(seed, 30));
    EXPECT_GE(calls.size(), 30U);
    Model model;
    std::size_t failed = 0;
    std::string text;
    for (const Call& call : calls) {
      failed += model.apply(call) != 0 ? 1 : 0;
      text += textOf(call) + '\n';
    }
    EXPECT_LT(failed, calls.size() / 2);
    seen.insert(text);
  }
  EXPECT_EQ(seen.size(), 20U);
  EXPECT_EQ(textOf(randomWorkload(7, 1).back()), "write A/C/bar 10 20");
}
