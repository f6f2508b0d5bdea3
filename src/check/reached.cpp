#include "check/reached.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <unordered_map>

#include "events/trace.h"

namespace blackout {

namespace {

enum Element : std::uint64_t { kSite, kAfterStore, kAfterAccess, kOften, kBranch };

template <class... Numbers>
std::uint64_t hashOf(Numbers... numbers) {
  const std::array<std::uint64_t, sizeof...(numbers)> all{static_cast<std::uint64_t>(numbers)...};
  return XXH3_64bits(all.data(), sizeof all);
}

// 1, 2 to 3, 4 to 7 ...
std::uint64_t magnitude(std::uint64_t count) { return std::bit_width(count); }

void makeSet(std::vector<std::uint64_t>& v) {
  std::sort(v.begin(), v.end());
  v.erase(std::unique(v.begin(), v.end()), v.end());
}

// The operation that a thread is in.
struct Under {
  std::uint64_t depth = 0;
  std::uint64_t store = 0, access = 0;                       // the site of the latest one; 0: none yet
  std::unordered_map<std::uint64_t, std::uint64_t> follows;  // how often one access followed another
};

}  // namespace

Reached reachedBy(const Trace& trace) {
  Reached out;
  std::map<ThreadNo, Under> threads;
  std::unordered_map<std::uint64_t, std::uint64_t> often;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    Under& in = threads[threadOf(e)];
    if (kindOf(e) == EventKind::OpBegin) {
      if (in.depth++ == 0) in.store = in.access = 0;
      continue;
    }
    if (kindOf(e) == EventKind::OpEnd && in.depth != 0) {
      if (--in.depth != 0) continue;
      for (auto [pair, count] : in.follows) out.hints.push_back(hashOf(kAfterAccess, pair, magnitude(count)));
      in.follows.clear();
    }
    const bool store = isStore(e);
    // What comes before the first operation and between two of them is the same for all lists.
    if (in.depth != 0 && kindOf(e) == EventKind::Branch)
      if (const Site* site = trace.siteOf(e)) out.hints.push_back(hashOf(kBranch, site->id, e.value));
    if (in.depth == 0 || (!store && groupOf(e) != EventGroup::Load)) continue;
    const Site* site = trace.siteOf(e);
    if (site == nullptr) continue;
    ++in.follows[hashOf(in.access, site->id)];
    in.access = site->id;
    if (!store) continue;
    out.stores.push_back(hashOf(kSite, site->id));
    out.stores.push_back(hashOf(kAfterStore, in.store, site->id));
    ++often[site->id];
    in.store = site->id;
  }
  for (auto [site, count] : often) out.hints.push_back(hashOf(kOften, site, magnitude(count)));
  makeSet(out.stores);
  makeSet(out.hints);
  return out;
}

}  // namespace blackout
