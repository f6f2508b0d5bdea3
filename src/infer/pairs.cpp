#include "infer/pairs.h"

#include <algorithm>

namespace blackout {

namespace {

// A condition over more fields than this says little about any two of them.
constexpr std::size_t kMostInCondition = 12;
constexpr std::size_t kMostAbove = 32;

// The fields that a set of tests reads of objects from which one gets to a spot, each with the most telling of them.
using Test = std::pair<KeyNo, GuardExample>;
using Tests = std::vector<Test>;

Tests testsIn(const std::vector<Origin>& origins, SpotNo spot, const ProgramFacts& facts, const GuardSearch& guards) {
  std::map<KeyNo, GuardExample> best;
  for (const Origin& o : origins) {
    if (o.kind != Origin::Read || !isTested(o.stage) || !facts.objects->isRelated(spot, o.spot)) continue;
    GuardExample example{shapeOf(o.stage), o.read()};
    auto [at, fresh] = best.try_emplace(facts.reads.at(o.read()).key, example);
    if (!fresh && guards.before(example, at->second)) at->second = example;
  }
  return {best.begin(), best.end()};
}

class PairSearch {
 public:
  PairSearch(const ProgramCode& code, const ProgramFacts& facts, const GuardSearch& guards)
      : code_(code), facts_(facts), guards_(guards) {}

  void function(FunctionNo no);
  void eachOther();
  PairFindings take();

 private:
  using Key = std::tuple<KeyNo, KeyNo, KeyNo>;
  using Example = std::pair<GuardExample, GuardExample>;
  using Found = std::map<Key, Example>;
  using Conditions = std::map<BlockNo, std::vector<SetNo>>;  // their terms, by their first block
  void add(Found& found, const Test& a, const Test& b, KeyNo guarded);
  void addTogether(const std::vector<SetNo>& terms, KeyNo guarded, SpotNo spot);
  void addNested(const std::vector<BlockNo>& above, const Conditions& conditions, KeyNo guarded, SpotNo spot);

  const ProgramCode& code_;
  const ProgramFacts& facts_;
  const GuardSearch& guards_;
  Found together_, nested_, eachOther_;
  std::size_t cutOff_ = 0;
  std::size_t gaveUp_ = 0;
  // Work is counted: what is looked at of the conditions above a block. Beyond that no more pairs are looked for.
  static constexpr std::uint64_t kMostSteps = 20'000'000;  // some seconds
  std::uint64_t steps_ = 0;
};

void PairSearch::add(Found& found, const Test& a, const Test& b, KeyNo guarded) {
  if (a.first == b.first || a.first == guarded || b.first == guarded) return;
  if (a.first > b.first) return add(found, b, a, guarded);
  Example example{a.second, b.second};
  auto [at, fresh] = found.try_emplace({a.first, b.first, guarded}, example);
  if (!fresh &&
      (guards_.before(example.first, at->second.first) ||
       (!guards_.before(at->second.first, example.first) && guards_.before(example.second, at->second.second))))
    at->second = example;
}

void PairSearch::addTogether(const std::vector<SetNo>& terms, KeyNo guarded, SpotNo spot) {
  std::vector<Tests> tests;
  for (SetNo term : terms) {
    steps_ += facts_.sets.of(term).size();
    tests.push_back(testsIn(facts_.sets.of(term), spot, facts_, guards_));
  }
  for (std::size_t a = 0; a < tests.size(); ++a)
    for (std::size_t b = a + 1; b < tests.size(); ++b)
      for (const Test& x : tests[a])
        for (const Test& y : tests[b]) add(together_, x, y, guarded);
}

// Of one read: a test of the one stands in another condition than that of the other.
void PairSearch::addNested(const std::vector<BlockNo>& above, const Conditions& conditions, KeyNo guarded,
                           SpotNo spot) {
  std::vector<Tests> tests;
  std::size_t fields = 0;
  for (BlockNo group : above) {
    std::vector<Origin> origins;
    for (SetNo term : conditions.at(group))
      origins.insert(origins.end(), facts_.sets.of(term).begin(), facts_.sets.of(term).end());
    steps_ += origins.size();
    tests.push_back(testsIn(origins, spot, facts_, guards_));
    fields += tests.back().size();
  }
  if (fields > kMostAbove) {
    ++cutOff_;
    return;
  }
  for (std::size_t a = 0; a < tests.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      for (const Test& x : tests[a])
        for (const Test& y : tests[b]) add(nested_, x, y, guarded);
}

void PairSearch::function(FunctionNo no) {
  const FunctionFacts& f = facts_.functions[no];
  const IdVector<BlockNo, BlockTests>& tests = guards_.tests()[no];
  // What callers pass is left out: it stands for many calls, no two of which need be the same.
  Conditions conditions;
  for (BlockNo b = 0; b < f.blocks.endId(); ++b) {
    std::vector<SetNo>& own = conditions[f.blocks[b].group];
    own.insert(own.end(), f.blocks[b].terms.begin(), f.blocks[b].terms.end());
  }
  std::erase_if(conditions, [&](const auto& condition) {
    cutOff_ += condition.second.size() > kMostInCondition;
    return condition.second.empty() || condition.second.size() > kMostInCondition;
  });
  if (conditions.empty()) return;
  // The conditions that decide over a block, directly or through others.
  IdVector<BlockNo, std::vector<BlockNo>> above(f.blocks.size());
  auto aboveBy = [&](const std::vector<BlockNo>& deciding, std::vector<BlockNo> all) {
    for (BlockNo a : deciding) {
      steps_ += above[a].size() + 1;
      if (conditions.contains(f.blocks[a].group)) all.push_back(f.blocks[a].group);
      all.insert(all.end(), above[a].begin(), above[a].end());
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (BlockNo b = 0; b < f.blocks.endId() && steps_ < kMostSteps; ++b) {
      std::vector<BlockNo> all = aboveBy(f.blocks[b].deciding, above[b]);
      changed |= all != above[b];
      above[b] = std::move(all);
    }
  }
  std::set<std::tuple<BlockNo, KeyNo, SpotNo>> doneTogether;
  std::set<std::tuple<std::vector<BlockNo>, KeyNo, SpotNo>> doneNested;
  for (BlockNo b = 0; b < f.blocks.endId(); ++b) {
    if (steps_ >= kMostSteps) {
      ++gaveUp_;
      return;
    }
    // What the condition itself reads stands under the part before it only.
    auto withoutOwn = [&](std::vector<BlockNo> groups) {
      if (tests[b].condition != 0) std::erase(groups, f.blocks[b].group);
      return groups;
    };
    auto together = [&](const std::vector<BlockNo>& groups, KeyNo key, SpotNo spot) {
      for (BlockNo group : groups)
        if (doneTogether.insert({group, key, spot}).second) addTogether(conditions.at(group), key, spot);
    };
    for (const ReadFact& r : f.blocks[b].reads) {
      std::vector<BlockNo> all = r.deciding.own ? aboveBy(r.deciding.blocks, {}) : above[b];
      std::vector<BlockNo> others = withoutOwn(all);
      for (ReadNo read : r.reads) {
        KeyNo key = facts_.reads.at(read).key;
        together(others, key, r.spot);
        if (others.size() > 1 && doneNested.insert({others, key, r.spot}).second)
          addNested(others, conditions, key, r.spot);
      }
    }
    for (const CallFact& c : f.blocks[b].calls) {
      std::vector<BlockNo> groups = c.deciding.own ? aboveBy(c.deciding.blocks, {}) : above[b];
      groups = withoutOwn(std::move(groups));
      for (std::size_t k = 0; k < c.spots.size() && k < code_.functions[c.callee]->arg_size(); ++k)
        for (KeyNo key : guards_.readBelow(c.callee, k)) together(groups, key, c.spots[k]);
    }
  }
}

// The list of guards is in order of guardian and guarded.
void PairSearch::eachOther() {
  std::map<std::pair<KeyNo, KeyNo>, GuardExample> best;
  for (const auto& [key, example] : guards_.guards()) {
    // A search compares many fields with what it looks for; that ties them to nothing.
    bool search = example.shape == Shape::Chase || example.shape == Shape::Comparison;
    if (key.guardian == key.guarded || search || !example.sameObject) continue;
    auto [at, fresh] = best.try_emplace({key.guardian, key.guarded}, example);
    if (!fresh && guards_.before(example, at->second)) at->second = example;
  }
  for (const auto& [key, example] : best) {
    if (key.first > key.second) continue;
    if (auto back = best.find({key.second, key.first}); back != best.end())
      eachOther_.try_emplace({key.first, key.second, 0}, example, back->second);
  }
}

PairFindings PairSearch::take() {
  PairFindings result;
  result.cutOff = cutOff_;
  result.gaveUp = gaveUp_;
  auto put = [&](GuardianPair::Rule rule, const Found& found) {
    for (const auto& [key, example] : found)
      result.pairs.push_back(
          {rule, std::get<0>(key), std::get<1>(key), std::get<2>(key), example.first.test, example.second.test});
  };
  put(GuardianPair::Rule::Together, together_);
  for (const auto& [key, example] : together_) nested_.erase(key);
  put(GuardianPair::Rule::Nested, nested_);
  put(GuardianPair::Rule::EachOther, eachOther_);
  return result;
}

}  // namespace

PairFindings findPairs(const ProgramCode& code, const ProgramFacts& facts, const GuardSearch& guards) {
  PairSearch search(code, facts, guards);
  for (FunctionNo f = 0; f < code.functions.endId(); ++f) search.function(f);
  search.eachOther();
  return search.take();
}

}  // namespace blackout
