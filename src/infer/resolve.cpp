#include "infer/resolve.h"

#include <algorithm>
#include <deque>

namespace blackout {

// What depends on more than this depends on everything, and would make the analysis quadratic.
constexpr std::size_t kMostOrigins = 512;

Resolver::Resolver(const ProgramCode& code, ProgramFacts& facts) : facts_(facts), arguments_(code.argumentCount()) {
  std::size_t count = arguments_ + facts.memory.size();
  values_.resize(count);
  // In the terms of the callers and writers.
  std::vector<SetNo> given(count, 0);
  for (const FunctionFacts& f : facts.functions)
    for (const BlockFact& b : f.blocks)
      for (const CallFact& c : b.calls) {
        std::uint32_t first = code.firstArgument(c.callee);
        std::size_t arguments = std::min<std::size_t>(c.arguments.size(), code.functions[c.callee]->arg_size());
        for (std::size_t k = 0; k < arguments; ++k)
          given[first + k] = facts.sets.unite(given[first + k], c.arguments[k]);
      }
  for (std::size_t m = 0; m < facts.memory.size(); ++m) given[arguments_ + m] = facts.stored[m];

  std::vector<std::vector<std::uint32_t>> users(count);
  for (std::uint32_t n = 0; n < count; ++n)
    for (const Origin& o : facts.sets.of(given[n])) {
      if (o.kind == Origin::Read) continue;
      std::uint32_t from = o.kind == Origin::Argument ? o.no : arguments_ + o.no;
      if (users[from].empty() || users[from].back() != n) users[from].push_back(n);
    }
  std::deque<std::uint32_t> work;
  std::vector<char> waiting(count, 1), cut(count, 0);
  // Sets that are thinned out need not settle.
  constexpr unsigned kMostVisits = 64;
  std::vector<unsigned> visits(count);
  for (std::uint32_t n = 0; n < count; ++n) work.push_back(n);
  while (!work.empty()) {
    std::uint32_t n = work.front();
    work.pop_front();
    waiting[n] = 0;
    if (cut[n] || ++visits[n] > kMostVisits) continue;
    SetNo value = substituted(given[n]);
    if (facts.sets.of(value).size() > kMostOrigins) {
      cut[n] = 1;
      ++cutOff_;
      value = 0;
    }
    if (value == values_[n]) continue;
    values_[n] = value;
    for (std::uint32_t u : users[n])
      if (!waiting[u]) {
        waiting[u] = 1;
        work.push_back(u);
      }
  }
}

SetNo Resolver::substituted(SetNo set) const {
  std::vector<Origin> own;
  SetNo all = 0;
  for (const Origin& o : std::vector<Origin>(facts_.sets.of(set))) {
    if (o.kind == Origin::Read) {
      own.push_back(o);
      continue;
    }
    bool argument = o.kind == Origin::Argument;
    if (!argument && facts_.memory[o.no].variable == nullptr) own.push_back(o);
    SetNo behind = values_[argument ? o.no : arguments_ + o.no];
    all = facts_.sets.unite(all, facts_.sets.map(behind, [&](const Origin& b) { return compose(b.stage, o.stage); }));
  }
  return facts_.sets.unite(all, facts_.sets.intern(std::move(own)));
}

SetNo Resolver::resolve(SetNo set) {
  if (set == 0) return 0;
  auto [at, fresh] = resolved_.try_emplace(set, 0);
  if (fresh) {
    SetNo value = substituted(set);
    resolved_[set] = value;
    return value;
  }
  return at->second;
}

}  // namespace blackout
