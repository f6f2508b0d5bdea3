#include "judge/commit_variables.h"

#include <fmt/format.h>

#include <algorithm>

#include "events/trace.h"

namespace blackout {

namespace {

std::string rangeText(const PmRange& r) {
  return fmt::format("[{:#x}, {:#x}) of pool {}", offsetOf(r.begin), offsetOf(r.begin) + r.size(),
                     fileOf(r.begin).value());
}

}  // namespace

std::uint64_t maskIn(LineNo line, const PmRange& r) {
  PmAddr begin = addressOf(line), end = begin + BLACKOUT_LINE;
  PmAddr from = std::max(begin, r.begin), to = std::min(end, r.end);
  if (from >= to) return 0;
  std::uint64_t size = to - from;
  return (size == BLACKOUT_LINE ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1) << (from - begin);
}

std::uint64_t CommitVariable::covers(LineNo line) const {
  std::uint64_t mask = ranges.empty() ? ~std::uint64_t{0} : 0;
  for (const PmRange& r : ranges) mask |= maskIn(line, r);
  return mask & ~maskIn(line, variable);
}

Result<std::vector<CommitVariable>> commitVariables(const Trace& trace,
                                                    const std::function<std::string(EventNo)>& place) {
  std::vector<CommitVariable> all;
  auto find = [&](PmAddr addr) {
    return std::find_if(all.begin(), all.end(), [&](const CommitVariable& v) { return v.variable.begin == addr; });
  };
  auto bad = [&](EventNo n, std::string what) {
    std::string at = place(n);
    return fail(fmt::format("{}: {}", at.empty() ? std::string("commit variables") : at, what));
  };
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (kindOf(e) == EventKind::CommitVar) {
      PmRange variable = PmRange::at(e.addr, e.value);
      auto same =
          std::find_if(all.begin(), all.end(), [&](const CommitVariable& v) { return v.variable.overlaps(variable); });
      // Registered at every start, it is still one.
      if (same == all.end())
        all.push_back({variable, n, {}});
      else if (same->variable != variable)
        return bad(n, fmt::format("the commit variable {} overlaps another one, {}", rangeText(variable),
                                  rangeText(same->variable)));
    } else if (kindOf(e) == EventKind::CommitRange) {
      auto [size, variable] = trace.range(n);
      PmRange range = PmRange::at(e.addr, size);
      auto v = find(variable);
      if (v == all.end())
        return bad(n, "blackout_commit_range() for a variable that blackout_commit_var() has not registered");
      if (std::find(v->ranges.begin(), v->ranges.end(), range) != v->ranges.end()) continue;
      for (const CommitVariable& other : all)
        for (const PmRange& r : other.ranges)
          if (r.overlaps(range))
            return bad(n, fmt::format("the range {} overlaps {}, which {} covers: every byte belongs to one commit "
                                      "variable",
                                      rangeText(range), rangeText(r),
                                      &other == &*v ? "the same variable" : "another variable"));
      v->ranges.push_back(range);
    }
  }
  if (all.size() > 1)
    for (const CommitVariable& v : all)
      if (v.ranges.empty())
        return bad(v.at,
                   "of several commit variables each needs a range (blackout_commit_range()); without one it "
                   "covers all persistent memory, and so what the others cover");
  return all;
}

}  // namespace blackout
