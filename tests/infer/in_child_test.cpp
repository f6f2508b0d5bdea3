// Work in a process of its own: what it says comes back, how it ends is told, and nothing else of it is seen.
#include "infer/in_child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace blackout {
namespace {

TEST(InChild, WhatItSaysComesBackWhole) {
  EXPECT_EQ(inChild([] { return std::string(); }), "");
  const std::string longer(300000, 'x');  // more than a pipe holds
  EXPECT_EQ(inChild([&] { return longer; }), longer);
}

// LLVM prints a crash's stack, and libc what an assertion says.
TEST(InChild, ItsWordsOnStandardErrorAreNotSeen) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(inChild([] {
              static constexpr char kText[] = "LLVM ERROR: out of its mind\n";
              return std::string(write(STDERR_FILENO, kText, sizeof kText - 1) > 0 ? "said" : "not said");
            }),
            "said");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(InChild, ACrashAHangAndAnEarlyEndSayNothing) {
  EXPECT_FALSE(inChild([]() -> std::string { std::abort(); }));
  EXPECT_FALSE(inChild([]() -> std::string { _exit(3); }));
  EXPECT_FALSE(inChild(
      []() -> std::string {
        for (;;) pause();
      },
      {1, {}}));
  int looks = 0;
  EXPECT_FALSE(inChild(
      []() -> std::string {
        for (;;) pause();
      },
      {0, [&] { return ++looks > 1; }}));
}

// Who asks may handle SIGTERM and ignore SIGPIPE: a child would live on.
TEST(InChild, SignalsEndItAsTheyDoByThemselves) {
  auto before = std::signal(SIGTERM, SIG_IGN);
  EXPECT_FALSE(inChild([]() -> std::string {
    raise(SIGTERM);
    return "lives";
  }));
  std::signal(SIGTERM, before);
}

}  // namespace
}  // namespace blackout
