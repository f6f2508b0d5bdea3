// Pointers into the recorded process: which addresses are moved, and restarts that follow what was moved.
#include "judge/stale_pointers.h"

#include <gtest/gtest.h>

#include <csignal>

#include "events/address_map.h"
#include "events/trace.h"
#include "fake_check.h"
#include "judged_restarts.h"

namespace blackout {
namespace {

using test::causeSites;
using test::check;
using test::exited;
using test::FakeMemory;
using test::JudgedProgram;
using test::JudgedRestarts;
using test::only;

constexpr std::uint64_t kPointer = 0, kOther = 64, kFlag = 128;
constexpr std::uint64_t kBegin = 0x555555554000, kEnd = 0x555555558000;
constexpr std::uint64_t kFunction = kBegin + 0x1234, kGlobal = kBegin + 0x3008;

// Stores two pointers to its own program file, and says that they are there.
struct Program : JudgedProgram {
  explicit Program(std::uint64_t bias = kBegin) {
    LoadedModule m;
    m.path = "/no/program";
    m.bias = bias;
    m.begin = kBegin;
    m.end = kEnd;
    writer.module(m);
    storeAt(place(1), kPointer, kFunction), persist(kPointer);
    storeAt(place(2), kOther, kGlobal), persist(kOther);
    storeAt(place(3), kFlag), persist(kFlag);
  }
};

// The address is used in a process that has its files where the recorded one had them.
Outcome follow(std::uint64_t address) {
  if (address == 0 || (address >= kBegin && address < kEnd)) return exited();
  Outcome o;
  o.ending = Ending::Signalled;
  o.code = SIGSEGV;
  o.faultAddress = address;
  return o;
}

TEST(StalePointers, OfAProgramFileAllAddressesMoveByOneDistance) {
  Program p;
  MovedAddresses a(p.index().trace());
  ASSERT_TRUE(a.moved(kBegin) && a.moved(kEnd - 1));
  EXPECT_EQ(*a.moved(kEnd - 1) - *a.moved(kBegin), kEnd - 1 - kBegin);
  EXPECT_EQ(*a.moved(kFunction) % 4096, kFunction % 4096);
  EXPECT_GE(*a.moved(kBegin), kNowhereBase);
  EXPECT_EQ(a.original(*a.moved(kFunction) + 8), kFunction + 8);
  EXPECT_TRUE(a.moved(0x7fffffffe000));  // the stack
  EXPECT_TRUE(a.moved(0x7ffff7d8e740));  // thread-local memory
  EXPECT_TRUE(a.moved(kEnd + 0x2a0));    // the heap
  for (std::uint64_t other : {std::uint64_t{0}, std::uint64_t{4711}, kBegin - 1, UINT64_MAX, kPmBase + 64})
    EXPECT_FALSE(a.moved(other)) << other;
  EXPECT_FALSE(a.original(kFunction));
}

TEST(StalePointers, AProgramAtFixedAddressesHasThemInEveryProcess) {
  Program p(0);
  EXPECT_FALSE(MovedAddresses(p.index().trace()).moved(kFunction));
  EXPECT_TRUE(check(p, [](FakeMemory& m) { return follow(m.load(kPointer)); }).findings.empty());
}

TEST(StalePointers, WhoFollowsOneIsShown) {
  Program p;
  CrashCheck c = check(p, [](FakeMemory& m) {
    if (m.load(kFlag) == 0) return exited();
    m.load(kOther);
    return follow(m.load(kPointer, 8, 101) + 16);
  });
  const Finding& f = only(c);
  EXPECT_EQ(f.kind, FindingKind::StalePointer);
  EXPECT_EQ(f.severity, Severity::Shown);
  EXPECT_EQ(causeSites(f), std::vector<std::uint64_t>{1});
  EXPECT_TRUE(test::says(f, "was moved to where nothing is"));
  // Its replay has the pointer moved.
  auto trace = Trace::fromBytes(std::as_bytes(std::span(c.findings.front().replay.trace)), "replay");
  ASSERT_TRUE(trace);
  auto index = Index::build(*trace, {});
  ASSERT_TRUE(index);
  LineBytes line{};
  index->files().initialBytes(lineOf(pmAddr(1, kPointer)), line);
  std::uint64_t value = 0;
  std::memcpy(&value, line.data(), sizeof value);
  EXPECT_GE(value, kNowhereBase);
}

TEST(StalePointers, WhatHidesBehindAnotherIsShownToo) {
  Program p;
  CrashCheck c = check(p, [](FakeMemory& m) {
    if (m.load(kFlag) == 0) return exited();
    Outcome first = follow(m.load(kPointer, 8, 101));
    return first.ending == Ending::Exited ? follow(m.load(kOther, 8, 102)) : first;
  });
  ASSERT_EQ(c.findings.size(), 2U);
  EXPECT_EQ(causeSites(c.findings[0].finding), std::vector<std::uint64_t>{1});
  EXPECT_EQ(causeSites(c.findings[1].finding), std::vector<std::uint64_t>{2});
}

TEST(StalePointers, ComparingThemOrTheirDistanceIsRight) {
  Program p;
  CrashCheck c = check(p, [](FakeMemory& m) {
    std::uint64_t function = m.load(kPointer), global = m.load(kOther);
    if (m.load(kFlag) == 0) return exited();
    if (function == kFunction) return follow(function);
    return follow(function - global + kGlobal);
  });
  EXPECT_TRUE(c.findings.empty());
}

// Restarts with moved pointers are what is left out first.
TEST(StalePointers, NoneIsMadeOnceTheCheckIsToEnd) {
  for (bool ended : {false, true}) {
    Program p;
    JudgedRestarts r(p, [](FakeMemory& m) { return m.load(kFlag) == 0 ? exited() : follow(m.load(kPointer)); });
    std::uint64_t before = r.runner.runs;
    std::atomic<bool> asked = ended;
    auto causes = followedPointers(r.probe, r.index, {}, Patience(&asked, &asked, 0));
    ASSERT_TRUE(causes);
    EXPECT_EQ(causes->empty(), ended);
    EXPECT_EQ(r.runner.runs == before, ended);
  }
}

// A fault somewhere else comes of the change, and shows nothing.
TEST(StalePointers, AFaultElsewhereShowsNothing) {
  Program p;
  CrashCheck c = check(p, [](FakeMemory& m) {
    std::uint64_t function = m.load(kPointer);
    return function == 0 || function == kFunction ? exited() : follow(0x1000);
  });
  EXPECT_TRUE(c.findings.empty());
}

}  // namespace
}  // namespace blackout
