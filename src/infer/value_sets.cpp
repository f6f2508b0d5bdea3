#include "infer/value_sets.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

namespace blackout {

Stage compose(Stage inner, Stage outer) {
  if (isTested(inner)) return inner;
  if (!isTested(outer)) return std::max(inner, outer);
  Shape shape = shapeOf(outer);
  bool plain = shape == Shape::Flag || shape == Shape::Comparison;
  if (inner == kMasked && plain) return tested(Shape::Mask);
  if (inner >= kComputed && shape == Shape::Flag) return tested(Shape::Comparison);
  return outer;
}

std::size_t ValueSets::Hash::operator()(const std::vector<Origin>& v) const {
  std::uint64_t h = 0x9e3779b97f4a7c15u + v.size();
  for (const Origin& o : v) {
    h ^= (std::uint64_t{o.no} << 16) | (std::uint64_t{o.kind} << 8) | o.stage | std::uint64_t{o.spot.value()} << 40;
    h *= 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  return h;
}

ValueSets::ValueSets() { intern({}); }

// What depends on very many reads depends on a few of each field: code that is one knot of jumps or a long chain of
// calls would otherwise carry all reads of the program through all of its values.
constexpr std::size_t kMostOrigins = 96;
constexpr std::size_t kMostOfOne = 2;

static void thinOut(std::vector<Origin>& origins) {
  std::map<std::tuple<Origin::Kind, KeyNo, Stage>, std::size_t> count;
  std::erase_if(origins, [&](const Origin& o) {
    return o.kind == Origin::Read && ++count[{o.kind, o.key, o.stage}] > kMostOfOne;
  });
}

SetNo ValueSets::intern(std::vector<Origin> origins) {
  if (!std::is_sorted(origins.begin(), origins.end())) std::sort(origins.begin(), origins.end());
  origins.erase(std::unique(origins.begin(), origins.end()), origins.end());
  auto at = numbers_.find(origins);
  if (at != numbers_.end()) return at->second;
  auto no = sets_.endId();
  sets_.push_back(origins);
  numbers_.emplace(std::move(origins), no);
  return no;
}

SetNo ValueSets::unite(SetNo a, SetNo b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  if (++steps_ > mostSteps_) return a;
  if (a > b) std::swap(a, b);
  auto [at, fresh] = unions_.try_emplace(bothOf(a, b), 0);
  if (!fresh) return at->second;
  std::vector<Origin> both;
  both.reserve(sets_[a].size() + sets_[b].size());
  steps_ += both.capacity();
  std::set_union(sets_[a].begin(), sets_[a].end(), sets_[b].begin(), sets_[b].end(), std::back_inserter(both));
  if (both.size() > kMostOrigins) {
    thinOut(both);
    ++thinnedOut_;
  }
  return unions_[bothOf(a, b)] = intern(std::move(both));
}

SetNo ValueSets::map(SetNo set, const std::function<Stage(const Origin&)>& stage) {
  if (set == 0) return 0;
  if (exhausted()) return set;
  std::vector<Origin> mapped = sets_[set];
  steps_ += mapped.size();
  bool changed = false;
  for (Origin& o : mapped) {
    Stage s = stage(o);
    changed |= s != o.stage;
    o.stage = s;
  }
  return changed ? intern(std::move(mapped)) : set;
}

}  // namespace blackout
