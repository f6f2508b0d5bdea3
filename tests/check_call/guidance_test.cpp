// The search for lists of operations that reach more, on a machine that only counts; and what a trace reached.

#include "check/guidance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "events/trace.h"
#include "tiny_program.h"

namespace blackout {

namespace {

// A table of buckets: "insert" of so many keys into one of them without a "remove" in between reaches the element
// kRare.
constexpr std::uint64_t kInsert = 1, kRemove = 2, kRare = 3;

class Table : public ListRunner {
 public:
  explicit Table(std::uint64_t room, bool hints = true) : room_(room), hints_(hints) {}

  static OperationList inserts(std::uint64_t count) {
    OperationList list;
    for (std::uint64_t i = 0; i < count; ++i) list.push_back({"insert", {i + 1, 0}});
    return list;
  }

  Result<std::optional<Attempt>> run(const OperationList& list) override {
    ++runs;
    std::map<std::uint64_t, std::uint64_t> buckets;
    std::uint64_t most = 0;
    Reached r;
    for (const lin::Step& s : list) {
      if (s.name == "explode") return std::optional<Attempt>();
      const bool insert = s.name == "insert";
      r.stores.push_back(insert ? kInsert : kRemove);
      std::uint64_t& held = buckets[s.arguments.at(0) % 8];
      held = insert ? held + 1 : 0;
      most = std::max(most, held);
      if (held >= room_) r.stores.push_back(kRare);
    }
    if (hints_)
      for (std::uint64_t n = 1; n <= most; n *= 2) r.hints.push_back(n);
    std::sort(r.stores.begin(), r.stores.end());
    r.stores.erase(std::unique(r.stores.begin(), r.stores.end()), r.stores.end());
    lists.push_back(list);
    return std::optional<Attempt>(Attempt{list, r});
  }
  Result<std::optional<Attempt>> generate(std::uint64_t seed, std::uint64_t operations) override {
    OperationList list = inserts(std::min<std::uint64_t>(operations, 8));
    list.push_back({"remove", {seed % 8}});
    return run(list);
  }

  std::uint64_t runs = 0;
  std::vector<OperationList> lists;

 private:
  std::uint64_t room_;
  bool hints_;
};

Attempt firstOf(Table& table) { return **table.run(Table::inserts(6)); }

GuidanceOptions optionsOf(std::uint64_t runs) {
  GuidanceOptions o;
  o.runs = runs;
  o.operations = 100;
  o.value = 1;
  return o;
}

TEST(Guidance, WhatIsRareIsReachedShrunkAndKept) {
  Table table(200);
  auto guided = guide(firstOf(table), {}, table, optionsOf(1500));
  ASSERT_TRUE(guided.has_value());
  ASSERT_EQ(guided->kept.size(), 2U);
  EXPECT_EQ(guided->runs, 1500U);
  EXPECT_EQ(table.runs, 1501U);
  auto rare = std::find_if(guided->kept.begin(), guided->kept.end(), [](const Attempt& a) {
    return std::binary_search(a.reached.stores.begin(), a.reached.stores.end(), kRare);
  });
  ASSERT_NE(rare, guided->kept.end());
  EXPECT_LE(rare->list.size(), 240U);
  // Values differ from one another before anything is dropped, so they do afterwards.
  std::vector<std::uint64_t> values;
  for (const lin::Step& s : rare->list)
    if (s.arguments.size() == 2) values.push_back(s.arguments[1]);
  std::sort(values.begin(), values.end());
  EXPECT_EQ(std::unique(values.begin(), values.end()), values.end());
}

// No change of a list that is not kept for its hints makes so many at once.
TEST(Guidance, WithoutHintsItIsNotReached) {
  Table table(200, false);
  auto guided = guide(firstOf(table), {}, table, optionsOf(300));
  ASSERT_TRUE(guided.has_value());
  for (const Attempt& a : guided->kept)
    EXPECT_FALSE(std::binary_search(a.reached.stores.begin(), a.reached.stores.end(), kRare));
}

TEST(Guidance, TheSameSeedTriesTheSame) {
  Table one(20), other(20);
  ASSERT_TRUE(guide(firstOf(one), {}, one, optionsOf(200)).has_value());
  ASSERT_TRUE(guide(firstOf(other), {}, other, optionsOf(200)).has_value());
  ASSERT_EQ(one.lists.size(), other.lists.size());
  for (std::size_t i = 0; i < one.lists.size(); ++i) EXPECT_EQ(textOf(one.lists[i]), textOf(other.lists[i]));
}

// Each once, also where it reaches nothing new; what the harness does not take is left out.
TEST(Guidance, WhatIsThereIsExploredAsItIs) {
  Table table(4);
  const OperationList nothingNew = {{"insert", {3, 9}}};
  OperationList known;
  for (std::uint64_t i = 0; i < 6; ++i) known.push_back({"insert", {8 * i, 7}});
  auto guided =
      guide(firstOf(table), {known, {{"explode", {}}}, known, nothingNew, Table::inserts(6)}, table, optionsOf(0));
  ASSERT_TRUE(guided.has_value());
  ASSERT_EQ(guided->known.size(), 2U);
  EXPECT_EQ(textOf(guided->known[0].list), textOf(known));
  EXPECT_EQ(textOf(guided->known[1].list), textOf(nothingNew));
  EXPECT_TRUE(guided->kept.empty());
  EXPECT_EQ(guided->runs, 3U);
}

// What those that are there reach is no reason to keep another one.
TEST(Guidance, WhatIsThereIsNotLookedForAgain) {
  Table table(4);
  OperationList known;
  for (std::uint64_t i = 0; i < 6; ++i) known.push_back({"insert", {8 * i, 7}});
  known.push_back({"remove", {1}});
  auto guided = guide(firstOf(table), {known}, table, optionsOf(200));
  ASSERT_TRUE(guided.has_value());
  EXPECT_EQ(guided->known.size(), 1U);
  EXPECT_TRUE(guided->kept.empty());
}

TEST(Guidance, ListsAreTextAndBack) {
  auto list = operationsIn("insert 7 70  # the first\n\n# nothing\ndequeue\n");
  ASSERT_TRUE(list.has_value());
  EXPECT_EQ(textOf(*list), "insert 7 70\ndequeue\n");
  EXPECT_FALSE(operationsIn("insert seven").has_value());
  EXPECT_FALSE(operationsIn("insert 7 70x").has_value());
}

// What a trace of these accesses reached: 's' a store, 'l' a load, at sites by their numbers; '|' between operations;
// 't' and 'n' a branch that is taken, and one that is not.
Reached reachedBy(const std::vector<std::pair<char, std::uint64_t>>& accesses) {
  test::TinyProgram p;
  std::map<std::uint64_t, StackId> where;
  for (auto [what, site] : accesses)
    if (what != '|' && !where.contains(site))
      where[site] = p.writer.where(
          p.writer.site(Site{.id = site, .kind = SiteKind::Store, .size = 8, .sources = {}, .type = ""}));
  p.opBegin(1);
  for (auto [what, site] : accesses) {
    if (what == '|') {
      p.opEnd(1);
      p.opBegin(1);
    } else if (what == 't' || what == 'n') {
      p.writer.event(EventKind::Branch, 1, 0, what == 't' ? 1 : 0, 0, where[site]);
    } else {
      p.writer.event(what == 's' ? EventKind::Store : EventKind::Load, 1, p.at(0), 0, 8, where[site]);
    }
  }
  p.opEnd(1);
  return blackout::reachedBy(p.trace());
}

TEST(Reached, AStoreAndTheOneBeforeIt) {
  const Reached one = reachedBy({{'s', 1}, {'s', 2}});
  EXPECT_EQ(one.stores.size(), 4U);  // two sites, each with what came before it
  // How often it comes by is a hint, and nothing that must be explored.
  const Reached twice = reachedBy({{'s', 1}, {'s', 2}, {'|', 0}, {'s', 1}, {'s', 2}});
  EXPECT_EQ(twice.stores, one.stores);
  EXPECT_NE(twice.hints, one.hints);
  // Another order of stores is something else, also where no site is new.
  EXPECT_NE(reachedBy({{'s', 2}, {'s', 1}}).stores, one.stores);
  // A load is a hint.
  const Reached loaded = reachedBy({{'s', 1}, {'l', 3}, {'s', 2}});
  EXPECT_EQ(loaded.stores, one.stores);
  EXPECT_NE(loaded.hints, one.hints);
  // So is a branch without an access, and the way that it went.
  const Reached taken = reachedBy({{'s', 1}, {'t', 3}, {'s', 2}}), other = reachedBy({{'s', 1}, {'n', 3}, {'s', 2}});
  EXPECT_EQ(taken.stores, one.stores);
  EXPECT_NE(taken.hints, one.hints);
  EXPECT_NE(taken.hints, other.hints);
}

}  // namespace

}  // namespace blackout
