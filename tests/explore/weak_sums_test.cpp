// Combinations that deceive weak sums, against all combinations, summed as a program would.
#include "explore/weak_sums.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace blackout::test {
namespace {

using Words = std::vector<std::uint32_t>;

struct Record {
  TrackedBytes tracked;
  std::vector<UncertainLine> lines;
  std::vector<SummedLine> summed;

  // The versions of one more line, each by its first words; the first is the oldest, the last the newest.
  void add(const std::vector<Words>& versions, std::uint64_t mask = ~std::uint64_t{0}) {
    UncertainLine line;
    for (const Words& words : versions) {
      SpaceVersion v;
      std::memcpy(v.bytes.data(), words.data(), words.size() * sizeof words[0]);
      line.versions.push_back(v);
    }
    line.newest = static_cast<std::uint32_t>(versions.size() - 1);
    SummedLine s;
    s.line = tracked.add(LineNo(1000 + lines.size()), ~std::uint64_t{0});
    for (std::uint32_t v = 0; v < versions.size(); ++v) s.versions.push_back(v);
    s.newest = line.newest;
    s.mask = mask;
    lines.push_back(std::move(line));
    summed.push_back(std::move(s));
  }

  std::vector<Combination> deceiving() {
    for (std::size_t i = 0; i < lines.size(); ++i) summed[i].of = &lines[i];
    return deceivingCombinations(summed, tracked);
  }

  // As libpmemobj sums.
  struct Fletcher {
    std::uint32_t low = 0, high = 0;
    auto operator<=>(const Fletcher&) const = default;
  };
  Fletcher sumOf(const Combination& c) const {
    Fletcher f;
    for (const SummedLine& s : summed)
      for (std::size_t i = 0; i < 16; ++i) {
        std::uint32_t word = 0;
        std::memcpy(&word, s.of->versions[c.at(s.line)].bytes.data() + 4 * i, 4);
        f.low += word;
        f.high += f.low;
      }
    return f;
  }
  Combination all(bool newest) const {
    Combination c;
    for (const SummedLine& s : summed) c[s.line] = newest ? s.newest : s.oldest;
    return c;
  }
};

TEST(WeakSums, WhatDeceivesFletchersIsFound) {
  // Neighbours that change by 1, -2 and 1.
  Record r;
  r.add({{7, 7, 7}, {8, 5, 8}, {8, 5, 9}});
  r.add({{1}, {2}});
  std::vector<Combination> found = r.deceiving();
  ASSERT_FALSE(found.empty());
  bool deceived = false;
  for (const Combination& c : found)
    deceived |= r.sumOf(c) == r.sumOf(r.all(false)) || r.sumOf(c) == r.sumOf(r.all(true));
  EXPECT_TRUE(deceived);
}

TEST(WeakSums, BytesThatAreNotReadMakeNoCombinations) {
  Record r;
  r.add({{1, 5}, {1, 6}}, 0xf);
  r.add({{1}, {2}});
  EXPECT_TRUE(r.deceiving().empty());
}

TEST(WeakSums, WhereAllSumsDifferNothingIsFound) {
  Record r;
  r.add({{0}, {0x00010101}});
  r.add({{0}, {0x00020202}});
  r.add({{0}, {0x00040404}});
  EXPECT_TRUE(r.deceiving().empty());
}

TEST(WeakSums, TooManyAreNotLookedAt) {
  Record r;
  for (unsigned i = 0; i < 17; ++i) r.add({{0}, {1}});
  EXPECT_TRUE(r.deceiving().empty());
}

// Whatever there is among all combinations is found, and all that is found deceives some sum.
TEST(WeakSums, AgreeWithAllCombinations) {
  std::mt19937 dice(5);
  auto roll = [&](std::uint32_t n) { return static_cast<std::uint32_t>(dice() % n); };
  unsigned found = 0;
  for (unsigned round = 0; round < 300; ++round) {
    Record r;
    for (unsigned i = 0; i < 3; ++i) {
      std::vector<Words> versions;
      for (unsigned v = 0; v < 3; ++v) versions.push_back({i, roll(4), roll(4), roll(2) << 8, v << 20});
      r.add(versions);
    }
    std::vector<Combination> deceiving = r.deceiving();
    Record::Fletcher none = r.sumOf(r.all(false)), whole = r.sumOf(r.all(true));
    bool fletcher = false, low = false, byte = false;
    for (std::uint32_t n = 0; n < 27; ++n) {
      Combination c{{r.summed[0].line, n % 3}, {r.summed[1].line, n / 3 % 3}, {r.summed[2].line, n / 9}};
      if (c == r.all(false) || c == r.all(true)) continue;
      Record::Fletcher f = r.sumOf(c);
      fletcher |= f == none || f == whole;
      low |= f.low == none.low || f.low == whole.low;
      byte |= (f.low & 0xff) == (whole.low & 0xff);
    }
    bool fletcherFound = false, lowFound = false, byteFound = false;
    for (const Combination& c : deceiving) {
      EXPECT_NE(c, r.all(false));
      EXPECT_NE(c, r.all(true));
      Record::Fletcher f = r.sumOf(c);
      fletcherFound |= f == none || f == whole;
      lowFound |= f.low == none.low || f.low == whole.low;
      byteFound |= (f.low & 0xff) == (whole.low & 0xff);
    }
    EXPECT_EQ(fletcherFound, fletcher);
    EXPECT_EQ(lowFound, low);
    EXPECT_EQ(byteFound, byte);
    found += byte ? 1 : 0;
  }
  EXPECT_GT(found, 20U);
}

}  // namespace
}  // namespace blackout::test
