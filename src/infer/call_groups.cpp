#include "infer/call_groups.h"

#include <algorithm>

namespace blackout {

// Tarjan's algorithm with a stack of its own: a chain of calls may be long.
std::vector<CallGroup> callGroups(const ProgramCode& code) {
  std::size_t count = code.functions.size();
  IdVector<FunctionNo, std::vector<FunctionNo>> callees(count);
  for (const CodeCall& c : code.calls) callees[c.caller].push_back(c.callee);
  for (std::vector<FunctionNo>& list : callees) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  struct Visit {
    FunctionNo function;
    std::size_t next;
  };
  std::vector<CallGroup> groups;
  IdVector<FunctionNo, std::uint32_t> order(count, 0), low(count, 0);
  IdVector<FunctionNo, char> open(count, 0);
  std::vector<FunctionNo> path;
  std::uint32_t clock = 0;
  for (FunctionNo root : idRange<FunctionNo>(count)) {
    if (order[root] != 0) continue;
    std::vector<Visit> visits;
    auto enter = [&](FunctionNo f) {
      order[f] = low[f] = ++clock;
      open[f] = 1;
      path.push_back(f);
      visits.push_back({f, 0});
    };
    enter(root);
    while (!visits.empty()) {
      FunctionNo f = visits.back().function;
      if (visits.back().next < callees[f].size()) {
        FunctionNo to = callees[f][visits.back().next++];
        if (order[to] == 0)
          enter(to);
        else if (open[to])
          low[f] = std::min(low[f], order[to]);
        continue;
      }
      visits.pop_back();
      if (!visits.empty()) low[visits.back().function] = std::min(low[visits.back().function], low[f]);
      if (low[f] != order[f]) continue;
      CallGroup group;
      FunctionNo member = 0;
      do {
        member = path.back();
        path.pop_back();
        open[member] = 0;
        group.members.push_back(member);
      } while (member != f);
      std::sort(group.members.begin(), group.members.end());
      group.recursive = group.members.size() > 1 || std::binary_search(callees[f].begin(), callees[f].end(), f);
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

}  // namespace blackout
