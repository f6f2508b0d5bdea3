#include "detect/races.h"

#include <algorithm>
#include <set>

#include "detect/by_site.h"

namespace blackout {

namespace {

class Races {
 public:
  Races(StateProbe& probe, RacingReads& reads) : probe_(probe), reads_(reads), explorer_(probe.explorer()) {}

  Result<std::vector<Cause>> run(const std::vector<Cause>& shown, const CauseOptions& options) {
    auto causes = findCauses(probe_, options);
    if (!causes) return causes;
    std::set<SiteKey> blamed;
    for (const Cause& c : shown)
      for (const auto& ref : {c.first, c.second})
        if (ref)
          if (auto site = siteOf(c.space, *ref)) blamed.insert(*site);
    std::vector<Cause> out;
    std::set<std::pair<SiteKey, std::uint64_t>> pairs;
    for (Cause& c : *causes) {
      if (!settle(c)) continue;
      auto writer = siteOf(c.space, *c.first);
      if (!writer || blamed.contains(*writer)) continue;
      std::uint64_t reader = explorer_.detail(c.space, c.leaf).observations[*c.read].query.site;
      if (pairs.emplace(*writer, reader).second) out.push_back(std::move(c));
    }
    return out;
  }

 private:
  std::optional<SiteKey> siteOf(SpaceNo space, const StoreRef& ref) {
    auto indexes = probe_.indexes(space);
    if (!indexes) return std::nullopt;
    const Trace& trace = (*indexes)[ref.level - 1]->trace();
    return siteKey(trace, trace[(*indexes)[ref.level - 1]->stores()[ref.store].event]);
  }

  bool judged(SpaceNo space, const Observation& o) {
    return reads_.races(space, o) && !reads_.guardians().tests(o.query.site);
  }

  // Names writer and reader. The store that was found to be lost and the read that met it, or where nothing is lost the
  // first read that races and the last store that it may see.
  bool settle(Cause& c) {
    LeafDetail detail = explorer_.detail(c.space, c.leaf);
    if (!c.read || !judged(c.space, detail.observations[*c.read])) {
      auto racing = std::find_if(detail.observations.begin(), detail.observations.end(),
                                 [&](const Observation& o) { return judged(c.space, o); });
      if (racing == detail.observations.end()) return false;
      c.read = static_cast<std::size_t>(racing - detail.observations.begin());
      c.first.reset();
    }
    if (c.first && std::find(c.lost.begin(), c.lost.end(), *c.first) != c.lost.end()) return true;
    std::vector<StoreRef> from = explorer_.mayReadFrom(c.space, c.leaf, *c.read);
    std::erase_if(from, [](const StoreRef& ref) { return ref.store == kNoStore; });
    if (from.empty()) return false;
    c.first = from.back();
    return true;
  }

  StateProbe& probe_;
  RacingReads& reads_;
  Explorer& explorer_;
};

}  // namespace

Result<std::vector<Cause>> suspectedRaces(StateProbe& probe, RacingReads& reads, const std::vector<Cause>& causes,
                                          const CauseOptions& options) {
  return Races(probe, reads).run(causes, options);
}

}  // namespace blackout
