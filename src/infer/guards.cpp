#include "infer/guards.h"

#include <algorithm>
#include <deque>

#include "infer/access_id.h"

namespace blackout {

bool placedBefore(const Source& a, const Source& b) {
  const Place *p = ownPlace(a), *q = ownPlace(b);
  auto place = [](const Place* x) {
    return x == nullptr ? std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t>{}
                        : std::tuple{x->file, x->line, x->column, x->discriminator};
  };
  auto left = place(p), right = place(q);
  return left != right ? left < right : a.chain != b.chain ? a.chain < b.chain : a.id < b.id;
}

GuardSearch::GuardSearch(const ProgramCode& code, ProgramFacts& facts, Resolver& resolver)
    : code_(code), facts_(facts), resolver_(resolver) {
  tests_.resize(facts.functions.size());
  entry_.resize(facts.functions.size());
  for (FunctionNo f = 0; f < facts.functions.endId(); ++f) findTests(facts.functions[f], tests_[f]);
  deciding_.resize(facts.reads.endId().value());
  findBelow();
  findFromCallers();
  for (FunctionNo f = 0; f < facts.functions.endId(); ++f)
    for (BlockNo b = 0; b < facts.functions[f].blocks.endId(); ++b)
      for (const ReadFact& read : facts.functions[f].blocks[b].reads) {
        addGuards(read, above(f, b, read.deciding), Filter::Related);
        for (std::size_t root : rootsOf(f, read.spot)) addGuards(read, entry_[f][root], Filter::Related);
        addGuards(read, resolver.resolve(read.left), Filter::Related);
        addGuards(read, resolver.resolve(read.asserted), Filter::SameObject);
        addGuards(read, resolver.resolve(read.choice), Filter::None);
        // What it was computed from leads there by itself; what chose between several is a test.
        addGuards(read, resolver.resolve(read.address), Filter::Tested);
      }
  findSetUps();
  list_.assign(guards_.begin(), guards_.end());
  std::sort(list_.begin(), list_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
}

// The arguments from which one gets to a spot, as indices of `below_` and `entry_`.
std::vector<std::size_t> GuardSearch::rootsOf(FunctionNo f, SpotNo spot) const {
  std::vector<std::size_t> roots;
  for (unsigned k : facts_.objects->argumentsAbove(spot)) roots.push_back(k);
  if (roots.empty()) roots.push_back(code_.functions[f]->arg_size());
  return roots;
}

// The tests of objects from which one gets to a spot.
SetNo GuardSearch::related(SetNo tests, SpotNo to) {
  if (tests == 0 || to == kAnySpot) return tests;
  auto [at, fresh] = related_.try_emplace(bothOf(tests, to), 0);
  if (!fresh) return at->second;
  std::vector<Origin> kept;
  for (const Origin& o : facts_.sets.of(tests))
    if (facts_.objects->isRelated(to, o.spot)) kept.push_back(o);
  SetNo set = facts_.sets.intern(std::move(kept));
  return related_[bothOf(tests, to)] = set;
}

bool GuardSearch::before(const GuardExample& a, const GuardExample& b) const {
  if (a.shape != b.shape) return a.shape < b.shape;
  if (a.test == b.test) return false;
  AccessSite p = facts_.reads.at(a.test).site, q = facts_.reads.at(b.test).site;
  return p != q && placedBefore(code_.sites.source(p), code_.sites.source(q));
}

// Down the branches; a loop needs a second pass. Where many jumps make one knot, sets that are thinned out need not
// settle at all: after so many passes they are left as they are.
constexpr int kMostPasses = 12;

void GuardSearch::findTests(const FunctionFacts& f, IdVector<BlockNo, BlockTests>& tests) {
  tests.resize(f.blocks.size());
  for (BlockNo b = 0; b < f.blocks.endId(); ++b) {
    tests[b].condition = resolver_.resolve(f.blocks[b].condition);
  }
  bool changed = true;
  for (int pass = 0; changed && pass < kMostPasses; ++pass) {
    changed = false;
    for (BlockNo b = 0; b < f.blocks.endId(); ++b) {
      SetNo above = tests[b].above;
      for (BlockNo a : f.blocks[b].deciding)
        above = facts_.sets.unite(above, facts_.sets.unite(tests[a].condition, tests[a].above));
      changed |= above != tests[b].above;
      tests[b].above = above;
    }
  }
}

SetNo GuardSearch::above(FunctionNo f, BlockNo block, const Deciding& deciding) const {
  if (!deciding.own) return tests_[f][block].above;
  SetNo all = 0;
  for (BlockNo a : deciding.blocks)
    all = facts_.sets.unite(all, facts_.sets.unite(tests_[f][a].condition, tests_[f][a].above));
  return all;
}

// The fields that are read in a function or below it, from callees to callers.
void GuardSearch::findBelow() {
  below_.resize(facts_.functions.size());
  for (FunctionNo f = 0; f < facts_.functions.endId(); ++f) {
    below_[f].resize(code_.functions[f]->arg_size() + 1);
    for (const BlockFact& b : facts_.functions[f].blocks)
      for (const ReadFact& r : b.reads)
        for (std::size_t root : rootsOf(f, r.spot))
          for (ReadNo no : r.reads) addKeys(below_[f][root], {facts_.reads.at(no).key});
  }
  fromCallees([&](FunctionNo f, const CallFact& c) {
    bool grown = false;
    for (std::size_t k = 0; k < below_[c.callee].size(); ++k) {
      const Keys below = below_[c.callee][k];
      if (below.empty()) continue;
      for (std::size_t root : rootsOf(f, actualOf(c, k))) {
        std::size_t size = below_[f][root].size();
        addKeys(below_[f][root], below);
        grown |= below_[f][root].size() != size;
      }
    }
    return grown;
  });
}

// The fields that are written in a function or below it.
IdVector<FunctionNo, Keys> GuardSearch::writtenBelow() const {
  IdVector<FunctionNo, Keys> all(facts_.functions.size());
  for (FunctionNo f = 0; f < facts_.functions.endId(); ++f)
    for (const BlockFact& b : facts_.functions[f].blocks) addKeys(all[f], b.writes);
  fromCallees([&](FunctionNo f, const CallFact& c) {
    std::size_t size = all[f].size();
    addKeys(all[f], Keys(all[c.callee]));
    return all[f].size() != size;
  });
  return all;
}

// Adds what calls do to what their callers do, until nothing changes. `add` says whether the caller's part has grown.
void GuardSearch::fromCallees(const std::function<bool(FunctionNo, const CallFact&)>& add) const {
  IdVector<FunctionNo, std::vector<FunctionNo>> callers(facts_.functions.size());
  std::deque<FunctionNo> work;
  IdVector<FunctionNo, char> waiting(facts_.functions.size(), 1);
  for (FunctionNo f = 0; f < facts_.functions.endId(); ++f) {
    work.push_back(f);
    for (const BlockFact& b : facts_.functions[f].blocks)
      for (const CallFact& c : b.calls)
        if (callers[c.callee].empty() || callers[c.callee].back() != f) callers[c.callee].push_back(f);
  }
  while (!work.empty()) {
    FunctionNo f = work.front();
    work.pop_front();
    waiting[f] = 0;
    bool grown = false;
    for (const BlockFact& b : facts_.functions[f].blocks)
      for (const CallFact& c : b.calls) grown |= add(f, c);
    if (!grown) continue;
    for (FunctionNo caller : callers[f])
      if (!waiting[caller]) {
        waiting[caller] = 1;
        work.push_back(caller);
      }
  }
}

// What a call hands over as an argument; none for what it reads elsewhere.
SpotNo GuardSearch::actualOf(const CallFact& call, std::size_t argument) const {
  std::size_t arguments = std::min(code_.functions[call.callee]->arg_size(), call.spots.size());
  return argument < arguments ? call.spots[argument] : kNoSpot;
}

void GuardSearch::findSetUps() {
  IdVector<FunctionNo, Keys> written = writtenBelow();
  std::map<Origin, Keys> under;  // what is written under a test
  for (FunctionNo f = 0; f < facts_.functions.endId(); ++f)
    for (BlockNo b = 0; b < facts_.functions[f].blocks.endId(); ++b) {
      const BlockFact& block = facts_.functions[f].blocks[b];
      auto note = [&](SetNo tests, const Keys& keys) {
        if (keys.empty()) return;
        for (const Origin& o : facts_.sets.of(tests)) {
          if (o.kind != Origin::Read) continue;
          bool plain =
              o.stage == tested(Shape::Flag) || o.stage == tested(Shape::NullCheck) || o.stage == tested(Shape::Mask);
          if (plain) addKeys(under[o], keys);
        }
      };
      note(tests_[f][b].above, block.writes);
      for (const CallFact& c : block.calls) note(above(f, b, c.deciding), written[c.callee]);
    }
  const Keys marks = code_.marks();
  std::map<KeyNo, std::vector<ReadNo>> reads, readsOfStruct;
  for (ReadNo r = 0; r < facts_.reads.endId(); ++r) {
    reads[facts_.reads.at(r).key].push_back(r);
    readsOfStruct[code_.fields.structOf(facts_.reads.at(r).key)].push_back(r);
  }
  for (const auto& [test, keys] : under) {
    KeyNo own = facts_.reads.at(test.read()).key;
    auto sets = [&](KeyNo key) { return std::binary_search(keys.begin(), keys.end(), key); };
    if (!sets(own) && !sets(code_.fields.structOf(own))) continue;
    // A magic number speaks for its struct, even if the rest needs no setting.
    Keys set = keys;
    if (std::binary_search(marks.begin(), marks.end(), own)) addKeys(set, {code_.fields.structOf(own)});
    for (KeyNo key : set)
      for (ReadNo r : (code_.fields.isStruct(key) ? readsOfStruct : reads)[key])
        if (facts_.reads.at(r).key != own) add(facts_.reads.at(r).key, facts_.reads.at(r).site, test.spot, test);
  }
}

SetNo GuardSearch::onePerField(SetNo set) const {
  std::map<std::pair<Origin::Kind, std::uint32_t>, Origin> best;
  for (const Origin& o : facts_.sets.of(set)) {
    std::uint32_t field = o.kind == Origin::Read ? facts_.reads.at(o.read()).key.value() : o.no;
    auto [at, fresh] = best.try_emplace({o.kind, field}, o);
    if (!fresh && o.kind == Origin::Read &&
        before({shapeOf(o.stage), o.read()}, {shapeOf(at->second.stage), at->second.read()}))
      at->second = o;
  }
  std::vector<Origin> origins;
  for (const auto& [field, o] : best) origins.push_back(o);
  return facts_.sets.intern(std::move(origins));
}

// What is tested before a call is tested before what is read below it in the objects that the call was given: one
// example per field is passed on.
void GuardSearch::findFromCallers() {
  entry_.resize(facts_.functions.size());
  std::deque<FunctionNo> work;
  IdVector<FunctionNo, char> waiting(facts_.functions.size(), 1);
  // Sets that are thinned out need not settle.
  constexpr unsigned kMostVisits = 64;
  IdVector<FunctionNo, unsigned> visits(facts_.functions.size());
  for (FunctionNo f = 0; f < facts_.functions.endId(); ++f) {
    entry_[f].resize(code_.functions[f]->arg_size() + 1);
    work.push_back(f);
  }
  std::unordered_map<SetNo, SetNo> reduced;
  auto one = [&](SetNo set) {
    auto [at, fresh] = reduced.try_emplace(set, 0);
    if (!fresh) return at->second;
    SetNo to = onePerField(set);
    return reduced[set] = to;
  };
  // The tests over a call's argument; over what it reads elsewhere, those of objects of the whole program.
  auto passed = [&](FunctionNo f, SetNo tests, const CallFact& c, std::size_t k) {
    SpotNo actual = actualOf(c, k);
    SetNo all = related(tests, actual);
    if (actual == kNoSpot) {
      std::vector<Origin> everywhere;
      for (const Origin& o : facts_.sets.of(tests))
        if (facts_.objects->functionOf(o.spot) == nullptr) everywhere.push_back(o);
      all = facts_.sets.intern(std::move(everywhere));
    }
    for (std::size_t root : rootsOf(f, actual)) all = facts_.sets.unite(all, entry_[f][root]);
    return all;
  };
  while (!work.empty()) {
    FunctionNo f = work.front();
    work.pop_front();
    waiting[f] = 0;
    if (++visits[f] > kMostVisits) continue;
    for (BlockNo b = 0; b < facts_.functions[f].blocks.endId(); ++b)
      for (const CallFact& c : facts_.functions[f].blocks[b].calls)
        for (std::size_t k = 0; k < entry_[c.callee].size(); ++k) {
          if (below_[c.callee][k].empty()) continue;
          SetNo all = one(facts_.sets.unite(entry_[c.callee][k], one(passed(f, above(f, b, c.deciding), c, k))));
          if (all == entry_[c.callee][k]) continue;
          entry_[c.callee][k] = all;
          if (waiting[c.callee]) continue;
          waiting[c.callee] = 1;
          work.push_back(c.callee);
        }
  }
  // All reads that decide over a call, not only the examples.
  for (FunctionNo f = 0; f < facts_.functions.endId(); ++f)
    for (BlockNo b = 0; b < facts_.functions[f].blocks.endId(); ++b)
      for (const CallFact& c : facts_.functions[f].blocks[b].calls)
        for (std::size_t k = 0; k < entry_[c.callee].size(); ++k) {
          const Keys& below = below_[c.callee][k];
          if (below.empty()) continue;
          for (const Origin& o : facts_.sets.of(passed(f, above(f, b, c.deciding), c, k)))
            if (o.kind == Origin::Read)
              deciding_[o.read()] |= below.size() > 1 || below[0] != facts_.reads.at(o.read()).key;
        }
}

void GuardSearch::add(KeyNo guarded, AccessSite read, SpotNo spot, const Origin& by) {
  const FieldRead& test = facts_.reads.at(by.read());
  // The very same load, on another turn of a loop.
  if (test.site == read && test.key == guarded) return;
  deciding_[by.read()] = 1;
  GuardExample example{isTested(by.stage) ? shapeOf(by.stage) : Shape::Chase, by.read(),
                       facts_.objects->isSameObject(spot, by.spot)};
  auto [at, fresh] = guards_.try_emplace({test.key, guarded, read}, example);
  if (fresh) return;
  example.sameObject |= at->second.sameObject;
  if (before(example, at->second))
    at->second = example;
  else
    at->second.sameObject = example.sameObject;
}

void GuardSearch::addGuards(const ReadFact& read, SetNo by, Filter filter) {
  if (by == 0) return;
  for (const Origin& o : facts_.sets.of(by)) {
    bool filtered = filter == Filter::Related || (filter == Filter::Tested && isTested(o.stage));
    if (filtered && !facts_.objects->isRelated(read.spot, o.spot)) continue;
    if (filter == Filter::SameObject && !facts_.objects->isSameObject(read.spot, o.spot)) continue;
    if (o.kind == Origin::Memory && isTested(o.stage)) {
      KeyNo key = facts_.memory[o.no].key;
      bool other = !read.reads.empty();
      for (KeyNo v : read.volatiles) other |= v != key;
      if (other) volatiles_.insert(key);
    }
    if (o.kind != Origin::Read) continue;
    for (ReadNo no : read.reads) add(facts_.reads.at(no).key, facts_.reads.at(no).site, read.spot, o);
  }
}

}  // namespace blackout
