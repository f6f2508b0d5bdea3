#include "infer/counted_updates.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "events/trace.h"
#include "infer/access_id.h"
#include "infer/publication.h"
#include "model/operations.h"

namespace blackout {

namespace {

// Of updates by the same instructions.
constexpr std::size_t kAlike = 3;
// Without marks an update is no longer than that, in events.
constexpr std::uint32_t kLongest = 20000;

// Whether a site is one of some accesses. Sites are compared once each.
class SiteSet {
 public:
  explicit SiteSet(const std::vector<Source>& accesses) {
    for (const Source& s : accesses) ids_.insert(accessId(s));
  }
  bool has(const Site* site) {
    if (site == nullptr) return false;
    auto [at, fresh] = known_.try_emplace(site, false);
    if (fresh)
      at->second = std::any_of(site->sources.begin(), site->sources.end(),
                               [&](const Source& s) { return ids_.contains(accessId(s)); });
    return at->second;
  }

 private:
  std::unordered_set<std::uint64_t> ids_;
  std::unordered_map<const Site*, bool> known_;
};

// The transactions that libraries announce: outermost, by thread. Number 0 is the thread's own.
std::vector<std::pair<EventNo, EventNo>> transactions(const Trace& trace) {
  std::map<ThreadNo, std::pair<unsigned, EventNo>> open;
  std::vector<std::pair<EventNo, EventNo>> all;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (kindOf(e) == EventKind::TxBegin) {
      auto& [depth, begin] = open[threadOf(e)];
      if (depth++ == 0) begin = n;
    } else if (kindOf(e) == EventKind::TxEnd) {
      auto& [depth, begin] = open[threadOf(e)];
      if (depth > 0 && --depth == 0) all.emplace_back(begin, n);
    }
  }
  return all;
}

struct Store {
  EventNo event = 0;
  ThreadNo thread = 0;
  PmAddr addr = 0;
  std::uint64_t size = 0;
};

class Updates {
 public:
  explicit Updates(const Trace& trace)
      : trace_(trace),
        operations_(trace),
        initialising_(initialisingStores(trace)),
        transactions_(transactions(trace)) {
    for (EventNo n = 0; n < trace.end(); n = trace.next(n))
      if (isStore(trace[n])) stores_.push_back({n, threadOf(trace[n]), trace[n].addr, bytesOf(trace[n])});
  }

  void add(std::size_t number, const CountingProperty& p, std::vector<CountedUpdate>& out) {
    SiteSet counters(p.counterWrites), arrays(p.arrayWrites), pointers(p.pointerWrites);
    std::map<std::pair<ThreadNo, PmAddr>, std::vector<std::size_t>> byInstance;
    for (std::size_t i = 0; i < stores_.size(); ++i)
      if (counters.has(trace_.siteOf(trace_[stores_[i].event])))
        byInstance[{stores_[i].thread, stores_[i].addr}].push_back(i);
    std::map<std::set<const Site*>, std::size_t> alike;
    std::vector<CountedUpdate> found;
    for (const auto& [instance, list] : byInstance) {
      const PmAddr anchor = instance.second - static_cast<PmAddr>(p.counterAt);
      auto ofArray = [&](const Store& s) {
        if (s.thread != instance.first) return false;
        const Site* site = trace_.siteOf(trace_[s.event]);
        if (!p.pointer.empty()) return (s.addr == anchor && pointers.has(site)) || arrays.has(site);
        if (p.arrayBytes == 0) return s.addr >= anchor && arrays.has(site);
        return s.addr + s.size > anchor && s.addr < anchor + p.arrayBytes;
      };
      for (std::size_t k = 0; k < list.size(); ++k) {
        const Store& c = stores_[list[k]];
        EventNo from = k == 0 ? EventNo(0) : stores_[list[k - 1]].event;
        EventNo to = k + 1 == list.size() ? kNever : stores_[list[k + 1]].event;
        const Operation* operation = operations_.outermost(c.thread, c.event);
        if (operation != nullptr) {
          from = std::max(from, operation->begin);
          to = std::min(to, operation->end);
        }
        CountedUpdate before{number, c.event, {}}, after = before;
        for (std::size_t i = list[k]; i-- > 0 && inReach(stores_[i].event, c.event) && stores_[i].event > from;)
          if (ofArray(stores_[i])) before.array.push_back(stores_[i].event);
        std::reverse(before.array.begin(), before.array.end());
        for (std::size_t i = list[k] + 1;
             i < stores_.size() && inReach(stores_[i].event, c.event) && stores_[i].event < to; ++i)
          if (ofArray(stores_[i])) after.array.push_back(stores_[i].event);
        // A mark says what belongs together; without one it is what comes before, or what comes after.
        if (operation != nullptr) {
          before.array.insert(before.array.end(), after.array.begin(), after.array.end());
          after.array.clear();
        }
        for (CountedUpdate* u : {&before, &after})
          if (!u->array.empty() && canPart(*u)) found.push_back(std::move(*u));
      }
    }
    std::sort(found.begin(), found.end(),
              [](const CountedUpdate& a, const CountedUpdate& b) { return a.counter < b.counter; });
    for (CountedUpdate& u : found) {
      std::set<const Site*> sites{trace_.siteOf(trace_[u.counter])};
      for (EventNo n : u.array) sites.insert(trace_.siteOf(trace_[n]));
      if (alike[sites]++ < kAlike) out.push_back(std::move(u));
    }
  }

 private:
  static bool inReach(EventNo a, EventNo b) { return (a < b ? b - a : a - b) < kLongest; }

  // Whether a crash can come between the two: not while nothing leads to the object, nor in one transaction.
  bool canPart(const CountedUpdate& u) const {
    auto isInitialising = [&](EventNo n) { return std::binary_search(initialising_.begin(), initialising_.end(), n); };
    if (isInitialising(u.counter) && std::all_of(u.array.begin(), u.array.end(), isInitialising)) return false;
    auto covers = [&](const std::pair<EventNo, EventNo>& t) {
      auto inside = [&](EventNo n) { return t.first <= n && n <= t.second; };
      return inside(u.counter) && std::all_of(u.array.begin(), u.array.end(), inside);
    };
    return std::none_of(transactions_.begin(), transactions_.end(), covers);
  }

  const Trace& trace_;
  Operations operations_;
  std::vector<EventNo> initialising_;
  std::vector<std::pair<EventNo, EventNo>> transactions_;
  std::vector<Store> stores_;
};

}  // namespace

std::vector<CountedUpdate> countedUpdates(const Trace& trace, const std::vector<CountingProperty>& properties) {
  std::vector<CountedUpdate> all;
  if (properties.empty()) return all;
  Updates updates(trace);
  for (std::size_t k = 0; k < properties.size(); ++k) updates.add(k, properties[k], all);
  return all;
}

}  // namespace blackout
