#include "explore/novelty.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "events/trace.h"

namespace blackout {

namespace {

// At each point: by which ways stores and fences came since the one before.
void atEachPoint(const Baseline& baseline,
                 const std::function<void(PointNo, const std::unordered_set<StackId>&)>& take) {
  const Trace& trace = baseline.index().trace();
  EventNo n = 0;
  for (PointNo p = 0; p.value() < baseline.count(); ++p) {
    std::unordered_set<StackId> here;
    for (; n < baseline.point(p) && n < trace.end(); n = trace.next(n)) {
      const Event& e = trace[n];
      EventGroup group = groupOf(e);
      if (e.where != 0 && (group == EventGroup::Store || group == EventGroup::Fence)) here.insert(stackOf(e));
    }
    take(p, here);
  }
}

}  // namespace

Ways waysOf(const Baseline& baseline, const std::function<bool(PointNo)>& explored) {
  std::unordered_set<StackId> all, crashed;
  atEachPoint(baseline, [&](PointNo p, const std::unordered_set<StackId>& here) {
    all.insert(here.begin(), here.end());
    if (explored(p)) crashed.insert(here.begin(), here.end());
  });
  return {all.size(), crashed.size()};
}

std::vector<PointNo> newestFirst(const Baseline& baseline) {
  std::unordered_map<StackId, std::uint32_t> seen;  // at how many points so far
  std::vector<std::pair<unsigned, PointNo>> order;
  order.reserve(baseline.count());
  atEachPoint(baseline, [&](PointNo p, const std::unordered_set<StackId>& here) {
    // The rarest of them counts, in powers of two: 1, 2 or 3, 4 to 7 times. Where nothing is known of places, the order
    // stays.
    std::optional<std::uint32_t> rarest;
    for (StackId stack : here) {
      std::uint32_t times = seen[stack]++;
      rarest = std::min(rarest.value_or(times), times);
    }
    order.emplace_back(std::bit_width(rarest.value_or(0)), p);
  });
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<PointNo> points;
  points.reserve(order.size());
  for (const auto& [rank, p] : order) points.push_back(p);
  return points;
}

}  // namespace blackout
