// Stores past the end of a pool file, and flushes of memory in no pool: both are told by the trace
// itself.
#include "detect/by_site.h"
#include "detect/detectors.h"
#include "events/trace.h"

namespace blackout {

namespace {

// One finding per site that has events of this kind.
template <class Make>
std::vector<Finding> perSite(const DetectInput& input, EventKind kind, AccessClass wanted, Make make) {
  const Trace& trace = input.trace;
  Interest interest(trace);
  Executions executions(trace, interest, wanted);
  std::map<SiteKey, Finding> found;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (kindOf(e) != kind || !interest.contains(n)) continue;
    SiteKey key = siteKey(trace, e);
    auto [it, isNew] = found.try_emplace(key);
    Finding& f = it->second;
    if (isNew) {
      f = make(n, e);
      f.counts.of = executions.of(key);
    }
    ++f.counts.times;
    if (kind == EventKind::StoreOutside) addExample(f, affected(trace, e.addr, bytesOf(e), e));
  }
  std::vector<Finding> out;
  out.reserve(found.size());
  for (auto& [key, f] : found) out.push_back(std::move(f));
  return out;
}

}  // namespace

std::vector<Finding> detectStoreOutside(const DetectInput& input) {
  return perSite(input, EventKind::StoreOutside, AccessClass::Store, [&](EventNo n, const Event& e) {
    Finding f = makeFinding(FindingKind::StoreOutside, StoredPastTheEnd{bytesOf(e)});
    f.places.push_back(placeOfEvent(input.trace, "written here", n));
    return f;
  });
}

std::vector<Finding> detectFlushOutside(const DetectInput& input) {
  return perSite(input, EventKind::FlushOutside, AccessClass::Flush, [&](EventNo n, const Event&) {
    Finding f = makeFinding(FindingKind::FlushOutside);
    f.places.push_back(placeOfEvent(input.trace, "flushed here", n));
    return f;
  });
}

}  // namespace blackout
