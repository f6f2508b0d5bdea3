// The oracle: every way in which a restart can go wrong is told apart from the others and from a
// restart that is fine, in words that do not differ between states of one cause.
#include "judge/oracle.h"

#include <gtest/gtest.h>

#include <csignal>

namespace blackout {
namespace {

Outcome ended(Ending ending, int code = 0, std::string text = {}, std::string output = {}) {
  Outcome o;
  o.ending = ending;
  o.code = code;
  o.text = std::move(text);
  o.output = std::move(output);
  return o;
}

constexpr OracleRules kLenient{.exitCodeCounts = false, .stepLimit = 1000};
constexpr OracleRules kStrict{.exitCodeCounts = true, .stepLimit = 1000};

void expectFailed(const Outcome& o, const std::string& symptom, const OracleRules& rules = kLenient) {
  Verdict v = judge(o, rules);
  EXPECT_EQ(v.judgement, Judgement::Failed);
  EXPECT_EQ(v.symptom, symptom);
  EXPECT_FALSE(v.key.empty());
}

TEST(Oracle, ExitCodesCountOnlyByTheRules) {
  EXPECT_EQ(judge(ended(Ending::Exited, 0), kStrict).judgement, Judgement::Fine);
  EXPECT_EQ(judge(ended(Ending::Exited, 3), kLenient).judgement, Judgement::Fine);
  expectFailed(ended(Ending::Exited, 3), "exits with 3", kStrict);
  EXPECT_NE(judge(ended(Ending::Exited, 3), kStrict).key, judge(ended(Ending::Exited, 4), kStrict).key);
}

TEST(Oracle, SignalsHangsAndExpectations) {
  expectFailed(ended(Ending::Signalled, SIGSEGV), "crashes with SIGSEGV");
  expectFailed(ended(Ending::Signalled, SIGBUS), "crashes with SIGBUS");
  expectFailed(ended(Ending::Hung), "hangs: more than 1000 steps");
  expectFailed(ended(Ending::Hung, 0, "nobody is left to wake it"), "hangs: nobody is left to wake it");
  EXPECT_EQ(judge(ended(Ending::Hung), kLenient).key, judge(ended(Ending::Hung, 0, "it loops"), kLenient).key);
  expectFailed(ended(Ending::Bound, 0, "it printed 16 MiB"), "takes more than a restart may: it printed 16 MiB");
  expectFailed(ended(Ending::Expectation, 0, "every key has its value"),
               "violates an expectation: 'every key has its value' does not hold");
}

TEST(Oracle, NothingIsSaidOfRunsThatCouldNotBeFollowed) {
  for (const OracleRules& rules : {kLenient, kStrict}) {
    EXPECT_EQ(judge(ended(Ending::TimedOut), rules).judgement, Judgement::Unknown);
    EXPECT_EQ(judge(ended(Ending::TimedOut, 0, "a restart still waited"), rules).symptom, "a restart still waited");
    Verdict broken = judge(ended(Ending::Broken, 0, "it uses io_uring"), rules);
    EXPECT_EQ(broken.judgement, Judgement::Unknown);
    EXPECT_EQ(broken.symptom, "it uses io_uring");
  }
}

TEST(Oracle, Aborts) {
  expectFailed(ended(Ending::Signalled, SIGABRT), "aborts");
  expectFailed(ended(Ending::Signalled, SIGABRT, "",
                     "hello\nmap: map.cpp:60: int lookup(int): Assertion `p != nullptr' failed.\n"),
               "aborts: failed assertion: p != nullptr (map.cpp:60)");
  expectFailed(ended(Ending::Signalled, SIGABRT, "",
                     "terminate called after throwing an instance of 'std::runtime_error'\n  what():  no such key\n"),
               "aborts: uncaught std::runtime_error: no such key");
  expectFailed(ended(Ending::Signalled, SIGABRT, "", "terminate called after throwing an instance of 'int'\n"),
               "aborts: uncaught int");
  expectFailed(ended(Ending::Signalled, SIGABRT, "", "free(): invalid pointer\n"), "aborts: free(): invalid pointer");
  // What is printed before an exit is no failure.
  EXPECT_EQ(judge(ended(Ending::Exited, 0, "", "Assertion `x' failed.\n"), kStrict).judgement, Judgement::Fine);
}

TEST(Oracle, SanitizersHoweverTheRunEnds) {
  const std::string asan =
      "=====\n==12==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000011 at pc 0x4\nREAD of size "
      "1\n";
  for (const Outcome& o : {ended(Ending::Exited, 1, "", asan), ended(Ending::Signalled, SIGABRT, "", asan)})
    expectFailed(o, "fails under AddressSanitizer: heap-buffer-overflow");
  expectFailed(ended(Ending::Exited, 1, "", "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x0 (pc 0x1)\n"),
               "fails under AddressSanitizer: SEGV");
  expectFailed(ended(Ending::Exited, 66, "", "WARNING: ThreadSanitizer: data race (pid=12)\n"),
               "fails under ThreadSanitizer: data race");
  expectFailed(ended(Ending::Exited, 77, "", "==5==WARNING: MemorySanitizer: use-of-uninitialized-value\n"),
               "fails under MemorySanitizer: use-of-uninitialized-value");
  expectFailed(ended(Ending::Exited, 23, "", "==5==ERROR: LeakSanitizer: detected memory leaks\n"),
               "fails under LeakSanitizer: detected memory leaks");
  expectFailed(ended(Ending::Exited, 0, "", "map.cpp:60:7: runtime error: load of null pointer of type 'int'\n"),
               "fails under UndefinedBehaviorSanitizer: load of null pointer of type 'int'");
  // Words of the program's own that only look like it.
  EXPECT_EQ(judge(ended(Ending::Exited, 0, "", "runtime error: out of keys\n"), kStrict).judgement, Judgement::Fine);
  EXPECT_EQ(judge(ended(Ending::Exited, 0, "", "built with AddressSanitizer: yes\n"), kStrict).judgement,
            Judgement::Fine);
}

TEST(Oracle, KeysLeaveNumbersOut) {
  auto key = [](const std::string& words) { return judge(ended(Ending::Expectation, 0, words), kLenient).key; };
  EXPECT_EQ(key("key 17 is there"), key("key 9 is there"));
  EXPECT_EQ(key("node at 0x7f12ab"), key("node at 0x7f00"));
  EXPECT_NE(key("key 17 is there"), key("key 17 is right"));
}

}  // namespace
}  // namespace blackout
