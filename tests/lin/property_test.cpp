// The checker against the definitions (naive.h): all small histories, and generated ones of every specification, legal
// and illegal, with calls under way at crashes in all combinations.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <functional>
#include <random>

#include "naive.h"

namespace blackout::lin::test {

namespace {

constexpr Criterion kCriteria[] = {Criterion::Durable, Criterion::Strict, Criterion::Buffered};
constexpr Kind kKinds[] = {Kind::Map, Kind::Register, Kind::Counter, Kind::Queue, Kind::Stack};

struct Counted {
  std::uint64_t legal = 0;
  std::uint64_t illegal = 0;
};

void agree(Kind kind, const Calls& h, Counted* counted) {
  for (Criterion c : kCriteria) {
    bool expected = naivelyExplained(kind, h, c);
    ASSERT_EQ(explained(kind, h, c), expected ? Answer::Yes : Answer::No)
        << textOf(h) << ", kind " << static_cast<int>(kind) << ", criterion " << static_cast<int>(c);
    ++(expected ? counted[static_cast<int>(c)].legal : counted[static_cast<int>(c)].illegal);
  }
}

// Begins and ends of `count` calls and up to `crashes` crashes in every order; each call ends before the next crash or
// never.
void everyOrder(std::size_t count, std::size_t crashes, const std::function<void(Calls&)>& look) {
  Calls h;
  std::vector<bool> cut(count);
  std::function<void(std::uint64_t)> next = [&](std::uint64_t time) {
    if (h.calls.size() == count) look(h);
    if (h.calls.size() < count) {
      h.calls.push_back({{}, time, kNever});
      next(time + 1);
      h.calls.pop_back();
    }
    for (std::size_t i = 0; i < h.calls.size(); ++i)
      if (h.calls[i].ended == kNever && !cut[i]) {
        h.calls[i].ended = time;
        next(time + 1);
        h.calls[i].ended = kNever;
      }
    if (h.crashes.size() < crashes && !h.calls.empty() && h.calls.size() < count) {
      std::vector<bool> before = cut;
      for (std::size_t i = 0; i < h.calls.size(); ++i) cut[i] = cut[i] || h.calls[i].ended == kNever;
      h.crashes.push_back(time);
      next(time + 1);
      h.crashes.pop_back();
      cut = before;
    }
  };
  next(1);
}

std::vector<StructureCall> callsOf(Kind kind) {
  auto yes = [](Word v) { return Reply{true, v}; };
  switch (kind) {
    case Kind::Map:
      return {{Does::Insert, 1, 1, yes(0)},
              {Does::Insert, 1, 2, Reply{}},
              {Does::Get, 1, 0, Reply{}},
              {Does::Get, 1, 0, yes(1)},
              {Does::Remove, 1, 0, yes(0)}};
    case Kind::Register:
      return {{Does::Write, 0, 1, {}}, {Does::Write, 0, 2, {}}, {Does::Read, 0, 0, yes(0)}, {Does::Read, 0, 0, yes(1)}};
    case Kind::Counter:
      return {{Does::Add, 0, 1, {}}, {Does::Add, 0, 2, {}}, {Does::Read, 0, 0, yes(1)}, {Does::Read, 0, 0, yes(2)}};
    case Kind::Queue:
    case Kind::Stack:
      return {{Does::Push, 0, 1, {}}, {Does::Push, 0, 2, {}}, {Does::Pop, 0, 0, yes(1)}, {Does::Pop, 0, 0, Reply{}}};
  }
  return {};
}

// A call that had not ended was not answered.
void forget(Calls& h) {
  for (auto& c : h.calls)
    if (c.ended == kNever) c.call.reply.reset();
}

Calls generated(Kind kind, std::uint32_t seed) {
  std::mt19937 random(seed);
  auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  Calls h;
  std::size_t count = 3 + below(4), threads = 1 + below(3), crashes = below(3);
  std::vector<std::optional<std::size_t>> open(threads);
  std::uint64_t time = 1;
  Whole whole;
  // Takes effect somewhere between its begin and its end; what a crash cuts, at once or never.
  std::vector<bool> effective(count);
  auto takeEffect = [&](std::size_t i) {
    if (effective[i]) return;
    effective[i] = true;
    Reply reply = whole.reply(kind, h.calls[i].call);
    if (h.calls[i].call.reply) h.calls[i].call.reply = reply;
  };
  while (h.calls.size() < count) {
    std::uint32_t what = below(10);
    std::size_t thread = below(static_cast<std::uint32_t>(threads));
    if (what < 5 && !open[thread]) {
      std::vector<StructureCall> calls = callsOf(kind);
      StructureCall call = calls[below(static_cast<std::uint32_t>(calls.size()))];
      if (kind == Kind::Map || kind == Kind::Register) call.key = below(2);
      open[thread] = h.calls.size();
      h.calls.push_back({call, time++, kNever});
    } else if (what < 6 && open[thread]) {
      takeEffect(*open[thread]);
    } else if (what < 9 && open[thread]) {
      takeEffect(*open[thread]);
      h.calls[*open[thread]].ended = time++;
      open[thread].reset();
    } else if (what == 9 && h.crashes.size() < crashes && !h.calls.empty()) {
      for (auto& o : open)
        if (o) {
          if (below(2) == 0) takeEffect(*o);
          o.reset();
        }
      h.crashes.push_back(time++);
      threads = open.size();
    }
  }
  for (auto& o : open)
    if (o && below(4) != 0) {
      takeEffect(*o);
      h.calls[*o].ended = time++;
    }
  // Most are spoilt, as far as that goes.
  if (below(4) != 0)
    for (auto& c : h.calls)
      if (c.call.reply && below(2) == 0) *c.call.reply = below(2) == 0 ? Reply{} : Reply{true, below(3)};
  forget(h);
  return h;
}

}  // namespace

class Every : public testing::TestWithParam<Kind> {};

TEST_P(Every, SmallHistory) {
  Counted counted[3];
  std::vector<StructureCall> choices = callsOf(GetParam());
  for (std::size_t crashes : {0U, 1U, 2U})
    everyOrder(3, crashes, [&](Calls& h) {
      if (h.crashes.size() != crashes || testing::Test::HasFatalFailure()) return;
      std::size_t all = choices.size() * choices.size() * choices.size();
      for (std::size_t n = 0; n < all; ++n) {
        Calls now = h;
        std::size_t rest = n;
        for (auto& c : now.calls) {
          c.call = choices[rest % choices.size()];
          rest /= choices.size();
        }
        forget(now);
        agree(GetParam(), now, counted);
      }
    });
  for (const Counted& c : counted) {
    EXPECT_GT(c.legal, 1000U);
    EXPECT_GT(c.illegal, 1000U);
  }
}

TEST_P(Every, GeneratedHistory) {
  Counted counted[3];
  EXPECT_TRUE(rc::check("the checker agrees with the definitions", [&] {
    for (int i = 0; i < 10; ++i)
      agree(GetParam(),
            generated(GetParam(), *rc::gen::noShrink(rc::gen::resize(1000, rc::gen::arbitrary<std::uint32_t>()))),
            counted);
    RC_ASSERT(!testing::Test::HasFatalFailure());
  }));
  for (const Counted& c : counted) {
    EXPECT_GT(c.legal, 200U);
    EXPECT_GT(c.illegal, 100U);
  }
}

INSTANTIATE_TEST_SUITE_P(Specifications, Every, testing::ValuesIn(kKinds));

}  // namespace blackout::lin::test
