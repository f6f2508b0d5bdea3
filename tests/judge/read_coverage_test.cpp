// A result says nothing of what no restart reads: when that is said, and when it is no reason to say anything.
#include "judge/read_coverage.h"

#include <gtest/gtest.h>

#include "fake_check.h"

namespace blackout {
namespace {

using test::check;
using test::exited;
using test::FakeMemory;
using test::JudgedProgram;

constexpr std::uint64_t kWords = 4;

// Words in lines of their own, each made durable before the next one.
void storeWords(JudgedProgram& p) {
  for (std::uint64_t i = 0; i < kWords; ++i) {
    p.storeAt(p.place(i + 1), i * 64, 7);
    p.persist(i * 64);
  }
}

auto reading(std::uint64_t words, bool tells = false) {
  return [=](FakeMemory& m) {
    Outcome o = exited();
    for (std::uint64_t i = 0; i < words; ++i) {
      std::uint64_t v = m.load(i * 64);
      if (tells) o.output += std::to_string(v);
    }
    return o;
  };
}

bool saysUnread(const CrashCheck& c, std::string_view words) {
  return std::any_of(c.incomplete.begin(), c.incomplete.end(),
                     [&](const std::string& s) { return s.find(words) != std::string::npos; });
}
constexpr std::string_view kNone = "No restart read any of the 32 bytes that the program stored";
constexpr std::string_view kInput = "The recorded run read its standard input";

TEST(ReadCoverage, WhatNoRestartReadsMakesTheResultInconclusive) {
  JudgedProgram none, some;
  storeWords(none), storeWords(some);
  CrashCheck c = check(none, reading(0));
  EXPECT_TRUE(saysUnread(c, kNone));
  EXPECT_TRUE(saysUnread(c, "--recover"));
  EXPECT_EQ(c.exploration.storedBytes, 32U);
  EXPECT_EQ(c.exploration.readBytes, 0U);
  // One word is enough: who reads little may need no more.
  c = check(some, reading(1));
  EXPECT_TRUE(c.incomplete.empty());
  EXPECT_EQ(c.exploration.readBytes, 8U);
}

TEST(ReadCoverage, NothingStoredIsNothingUnread) {
  JudgedProgram p;
  p.sfence(1);
  EXPECT_TRUE(check(p, reading(0)).incomplete.empty());
}

TEST(ReadCoverage, ABoundMayHaveLeftOutWhoReads) {
  JudgedProgram p;
  storeWords(p);
  CrashOptions options;
  options.maxRuns = 1;
  EXPECT_FALSE(saysUnread(check(p, reading(kWords), options), kNone));
}

TEST(ReadCoverage, CommandsThatRestartsDoNotGet) {
  CrashOptions options;
  options.recordedInput = true;
  JudgedProgram little, half, telling, another, asked, silent;
  for (JudgedProgram* p : {&little, &half, &telling, &another, &asked, &silent}) storeWords(*p);
  CrashCheck c = check(little, reading(1), options);
  EXPECT_TRUE(saysUnread(c, kInput));
  EXPECT_TRUE(saysUnread(c, "they read 8 of the 32 bytes that the program stored"));
  // A restart that looks at most of it by itself, or that says what it finds, needs no commands.
  EXPECT_FALSE(saysUnread(check(half, reading(kWords / 2), options), kInput));
  EXPECT_FALSE(saysUnread(check(telling, reading(1, true), options), kInput));
  // Nor does one that was chosen or given its questions by the user, or whose recording read nothing.
  CrashOptions chosen = options;
  chosen.sameCommand = false;
  EXPECT_FALSE(saysUnread(check(another, reading(1), chosen), kInput));
  CrashOptions questions = options;
  questions.program.input = "/dev/null";
  EXPECT_FALSE(saysUnread(check(asked, reading(1), questions), kInput));
  options.recordedInput = false;
  EXPECT_FALSE(saysUnread(check(silent, reading(1), options), kInput));
}

}  // namespace
}  // namespace blackout
