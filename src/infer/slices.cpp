#include "infer/slices.h"

#include <algorithm>
#include <memory>

#include "infer/call_groups.h"
#include "infer/slicer.h"

namespace blackout {

// The functions of a recursion see each other's results so many calls deep.
constexpr int kMostRounds = 6;

ReadNo ReadTable::of(AccessSite site, KeyNo key, bool swaps) {
  auto [at, fresh] = numbers_.try_emplace(bothOf(site, key), reads_.endId());
  if (fresh) reads_.push_back({site, key, swaps});
  return at->second;
}

ProgramFacts sliceProgram(ProgramCode& code, const PersistentTypes& types, std::uint64_t steps) {
  ProgramFacts facts;
  facts.sets.limit(steps);
  facts.functions.resize(code.functions.size());
  facts.objects = std::make_unique<Objects>(code.module);
  SlicedProgram program{code, types, facts};
  program.returned.resize(code.functions.size());
  // Callees first; the functions of a recursion together, until their summaries agree.
  for (const CallGroup& group : callGroups(code)) {
    const std::vector<FunctionNo>& members = group.members;
    std::vector<std::unique_ptr<FunctionSlicer>> slicers;
    for (FunctionNo f : members) slicers.push_back(std::make_unique<FunctionSlicer>(program, f));
    for (int round = 0; round < kMostRounds; ++round) {
      bool changed = false;
      for (std::size_t k = 0; k < members.size(); ++k) {
        slicers[k]->evaluate();
        FunctionFacts& own = facts.functions[members[k]];
        std::vector<OutFact> outs = slicers[k]->outs();
        auto same = [](const OutFact& a, const OutFact& b) { return a.value == b.value && a.offset == b.offset; };
        changed |= program.returned[members[k]] != slicers[k]->returned() ||
                   !std::equal(outs.begin(), outs.end(), own.outs.begin(), own.outs.end(), same);
        program.returned[members[k]] = slicers[k]->returned();
        own.outs = std::move(outs);
      }
      if (!changed || !group.recursive) break;
    }
    for (std::size_t k = 0; k < members.size(); ++k) slicers[k]->addFacts(facts.functions[members[k]]);
  }
  return facts;
}

}  // namespace blackout
