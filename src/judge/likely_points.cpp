#include "judge/likely_points.h"

#include <algorithm>
#include <map>

#include "events/linearization_mark.h"
#include "events/trace.h"
#include "infer/publication.h"

namespace blackout {

namespace {

// The last store of the same thread before each mark of the program.
std::vector<EventNo> markedStores(const Trace& trace) {
  std::map<ThreadNo, EventNo> last;
  std::vector<EventNo> marked;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (isStore(e)) last.insert_or_assign(threadOf(e), n);
    if (kindOf(e) != EventKind::ExtraPoint || e.len != BLACKOUT_POINT_LP) continue;
    if (auto at = last.find(threadOf(e)); at != last.end()) marked.push_back(at->second);
  }
  std::sort(marked.begin(), marked.end());
  marked.erase(std::unique(marked.begin(), marked.end()), marked.end());
  return marked;
}

}  // namespace

LikelyPoints likelyPoints(const Trace& trace, const std::vector<GuardianAccesses>& guardians) {
  LikelyPoints out;
  std::map<EventNo, LikelyPoint> points;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n))
    if (isStore(trace[n])) out.stores.push_back(n);
  if (!guardians.empty()) {
    LikelyCommits commits = likelyCommits(trace, guardians, AtomicStores::Commit);
    out.guardians = true;
    out.byGuardians = std::move(commits.toGuardians);
    out.byPublication = std::move(commits.published);
    for (const LikelyCommit& c : commits.commits) points[c.store] = {c.store, reasonOf(c, guardians), true, false};
  } else {
    std::vector<EventNo> initialising = initialisingStores(trace);
    for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
      if (!isStore(trace[n])) continue;
      bool locked = kindOf(trace[n]) == EventKind::Rmw;
      if (locked) out.byGuardians.push_back(n);
      if (std::binary_search(initialising.begin(), initialising.end(), n)) continue;
      out.byPublication.push_back(n);
      points[n] = {n, locked ? "is a locked instruction" : "is a store to what can be reached already", true, false};
    }
  }
  out.inferred = points.size();
  for (EventNo n : markedStores(trace)) {
    auto [at, fresh] = points.try_emplace(n, LikelyPoint{n, "is marked by blackout_lp()", false, true});
    at->second.marked = true;
    ++out.marked;
    out.missed += fresh ? 1 : 0;
  }
  for (auto& [n, point] : points) out.points.push_back(std::move(point));
  return out;
}

std::vector<EventNo> LikelyPoints::of(LikelySet set) const {
  switch (set) {
    case LikelySet::Guardians:
      return byGuardians;
    case LikelySet::Published:
      return byPublication;
    case LikelySet::All:
      return stores;
    case LikelySet::Likely:
    case LikelySet::Marked:
      break;
  }
  std::vector<EventNo> out;
  for (const LikelyPoint& p : points)
    if (set == LikelySet::Likely || p.marked) out.push_back(p.store);
  return out;
}

std::vector<AdversarialTest> adversarialTests(const std::vector<EventNo>& stores, const Index& index,
                                              IdSpan<PointNo, const EventNo> points) {
  std::vector<AdversarialTest> tests;
  const Operations& operations = index.operations();
  // Both at the first point after the event.
  auto add = [&](EventNo store, EventNo after) {
    auto at = std::upper_bound(points.begin(), points.end(), after);
    if (at == points.end()) return;
    PointNo point(static_cast<std::uint32_t>(at - points.begin()));
    for (TestStage pattern : {TestStage::IncompletelyDurable, TestStage::UnrecoveredDurable})
      tests.push_back({point, store, pattern});
  };
  for (EventNo store : stores) {
    add(store, store);
    const Operation* latest = operations.latest(threadOf(index.trace()[store]), store);
    if (latest == nullptr) continue;
    const Operation& outermost = operations.outermost(*latest);
    if (outermost.contains(store) && outermost.end != kNever) add(store, outermost.end);
  }
  std::sort(tests.begin(), tests.end());
  tests.erase(std::unique(tests.begin(), tests.end()), tests.end());
  return tests;
}

}  // namespace blackout
