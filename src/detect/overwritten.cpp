// Stores that another one replaced before they were durable.
#include <array>
#include <set>
#include <utility>

#include "detect/by_site.h"
#include "detect/detectors.h"
#include "events/trace.h"

namespace blackout {

std::vector<Finding> detectOverwrittenUnpersisted(const DetectInput& input) {
  const Trace& trace = input.trace;
  const Index& index = input.index;
  auto stores = index.stores();
  Interest interest(trace);
  Relevance relevance(index);
  Executions executions(trace, interest, AccessClass::Store);

  std::map<StoreNo, StoreNo> overwritten;  // each with the store that replaced it first
  IdVector<StoreNo, StoreNo> first = executionsOf(index);
  for (LineId id : idRange<LineId>(index.lineCount())) {
    std::array<StoreNo, BLACKOUT_LINE> last;  // the store whose byte is visible
    last.fill(kNoStore);
    auto history = index.history(id);
    for (std::uint32_t i = 0; i < history.size(); ++i) {
      LineStore s = index.lineStore(id, i);
      EventNo at = stores[s.store].event;
      StoreNo judged = kNoStore;
      for (unsigned b = s.offset; b < s.offset + s.size; ++b) {
        StoreNo old = std::exchange(last[b], s.store);
        if (old == kNoStore || old == judged) continue;
        // A locked instruction's own fence comes before its store: guaranteed by it is in time.
        if (stores[old].guaranteedAt <= at || !interest.contains(stores[old].event)) continue;
        if ((relevance.irrelevant(index.lineNo(id), stores[old].event, at) >> b) & 1) continue;
        judged = old;
        if (first[old] != first[s.store]) overwritten.try_emplace(old, s.store);
      }
    }
  }

  std::map<SiteKey, Finding> found;
  std::set<StoreNo> counted;  // executions: a wide store counts once
  for (const auto& [old, by] : overwritten) {
    EventNo n = stores[old].event;
    const Event& e = trace[n];
    SiteKey key = siteKey(trace, e);
    auto [it, isNew] = found.try_emplace(key);
    Finding& f = it->second;
    if (isNew) {
      f = makeFinding(FindingKind::OverwrittenUnpersisted,
                      Replaced{seenStore(index, old, 1, 1), seenStore(index, by, 1, 2)});
      f.places.push_back(placeOfEvent(trace, "written here", n));
      f.places.push_back(placeOfEvent(trace, "overwritten here", stores[by].event));
      f.counts.of = executions.of(key);
    }
    if (counted.insert(first[old]).second) ++f.counts.times;
    addExample(f, affected(trace, e.addr, bytesOf(e), e));
  }
  std::vector<Finding> out;
  out.reserve(found.size());
  for (auto& [key, f] : found) out.push_back(std::move(f));
  return out;
}

}  // namespace blackout
