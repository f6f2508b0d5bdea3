#include "judge/races.h"

#include <algorithm>
#include <set>

#include "detect/by_site.h"
#include "events/trace.h"

namespace blackout {

namespace {

class Races {
 public:
  Races(StateProbe& probe, AnswerJudge& judge) : probe_(probe), judge_(judge), explorer_(probe.explorer()) {}

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
      std::uint64_t reader = explorer_.detail(c.space, c.recovery).observations[*c.read].query.site;
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

  // Names writer and reader: the read without which the answer would be right, and the store to its bytes that is lost,
  // or where nothing is lost the last one that it may see.
  bool settle(Cause& c) {
    c.read = judge_.readAtFault(c.space, c.recovery);
    if (!c.read) return false;
    std::vector<StoreRef> from = explorer_.mayReadFrom(c.space, c.recovery, *c.read);
    std::erase_if(from, [](const StoreRef& ref) { return ref.store == kNoStore; });
    if (from.empty()) return false;
    auto lost = std::find_first_of(from.begin(), from.end(), c.lost.begin(), c.lost.end());
    c.first = lost != from.end() ? *lost : from.back();
    return true;
  }

  StateProbe& probe_;
  AnswerJudge& judge_;
  Explorer& explorer_;
};

}  // namespace

Result<std::vector<Cause>> suspectedRaces(StateProbe& probe, AnswerJudge& judge, const std::vector<Cause>& causes,
                                          const CauseOptions& options) {
  return Races(probe, judge).run(causes, options);
}

}  // namespace blackout
