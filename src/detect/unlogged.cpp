// Stores inside a transaction to bytes that it has not logged, or logs only afterwards, and transactions that are still
// open at the end. What a library stores for itself inside its own calls is its affair: libpmemobj says to pmemcheck
// only a part of what it logs there.
#include <algorithm>
#include <optional>
#include <set>

#include "detect/by_site.h"
#include "detect/detectors.h"
#include "detect/logged_ranges.h"
#include "detect/trusted.h"
#include "events/trace.h"

namespace blackout {

std::vector<Finding> detectUnloggedStore(const DetectInput& input) {
  const Trace& trace = input.trace;
  const Index& index = input.index;
  LoggedRanges logged = loggedRanges(trace);
  if (logged.unlogged.empty()) return {};
  Interest interest(trace);
  Relevance relevance(index);
  Executions executions(trace, interest, AccessClass::Store);
  ChangedBytes changed(index);
  IdVector<StoreNo, StoreNo> first = executionsOf(index);
  auto pmdk = Trusted::pmdk(trace);
  const Trusted* libraries = pmdk && *pmdk ? &**pmdk : nullptr;

  std::map<SiteKey, Finding> found;
  std::set<StoreNo> counted;  // executions: a wide store counts once
  for (const UnloggedStore& u : logged.unlogged) {
    const Event& e = trace[u.at];
    StoreNo store = index.storeOf(u.at);
    if (store == kNoStore || !interest.contains(u.at) || (libraries != nullptr && libraries->inside(e))) continue;
    // A store that changes nothing can't be undone wrongly.
    std::uint64_t mask = 0;
    for (PmAddr a = u.begin; a < u.end && lineOf(a) == lineOf(u.begin); ++a)
      mask |= std::uint64_t{1} << (a % BLACKOUT_LINE);
    EventNo end = logged.transactions[u.transaction].end;
    mask &= changed[store] & ~relevance.irrelevant(lineOf(u.begin), u.at, end != 0 ? end : trace.end());
    if (mask == 0) continue;
    SiteKey key = siteKey(trace, e);
    auto [it, isNew] = found.try_emplace(key);
    Finding& f = it->second;
    if (isNew) {
      f = makeFinding(FindingKind::UnloggedStore,
                      NotLogged{seenStore(index, store, 1, 1), u.end - u.begin, PlaceNo(u.addedAt != 0 ? 2 : 0)});
      f.places.push_back(placeOfEvent(trace, "stored here", u.at));
      if (u.addedAt != 0) f.places.push_back(placeOfEvent(trace, "added too late here", u.addedAt));
      f.places.push_back(
          placeOf(trace, "the transaction begins here", stackOf(trace[logged.transactions[u.transaction].begin])));
      f.places.back().incidental = true;
      f.counts.of = executions.of(key);
    }
    bool counts = counted.insert(first[store]).second;
    if (counts) ++f.counts.times;
    addExample(f, affected(trace, u.begin, u.end - u.begin, e), !counts);
  }
  std::vector<Finding> out;
  out.reserve(found.size());
  for (auto& [key, f] : found) out.push_back(std::move(f));
  return out;
}

std::vector<Finding> detectOpenTransaction(const DetectInput& input) {
  const Trace& trace = input.trace;
  LoggedRanges logged = loggedRanges(trace);
  Interest interest(trace);
  std::map<SiteKey, Finding> found;
  for (const LoggedTransaction& t : logged.transactions) {
    if (t.end != 0 || !interest.contains(t.begin)) continue;
    auto [it, isNew] = found.try_emplace(siteKey(trace, trace[t.begin]));
    Finding& f = it->second;
    if (isNew) {
      f = makeFinding(FindingKind::OpenTransaction);
      f.places.push_back(placeOfEvent(trace, "the transaction begins here", t.begin));
    }
    ++f.counts.times;
  }
  std::vector<Finding> out;
  out.reserve(found.size());
  for (auto& [key, f] : found) out.push_back(std::move(f));
  return out;
}

void joinUnlogged(std::vector<Finding>& findings) {
  auto isUnlogged = [](const Finding& f) { return f.kind == FindingKind::UnloggedStore && !f.places.empty(); };
  std::set<std::uint64_t> told;  // sites
  for (const Finding& unlogged : findings) {
    std::uint64_t site = isUnlogged(unlogged) ? unlogged.places[0].siteId : 0;
    if (site == 0) continue;
    const auto* claim = std::get_if<NotLogged>(&unlogged.claim);
    for (Finding& f : findings) {
      auto place = std::find_if(f.places.begin(), f.places.end(),
                                [&](const NumberedPlace& p) { return !p.incidental && p.siteId == site; });
      if (!f.shownBy || place == f.places.end()) continue;
      std::optional<Frame> added;
      if (claim != nullptr && claim->added != 0) {
        const auto& stack = unlogged.place(claim->added).stack;
        auto own = std::find_if(stack.begin(), stack.end(), [](const Frame& frame) { return !frame.file.empty(); });
        added = own == stack.end() ? Frame() : *own;
      }
      f.evidence.push_back(NotInTransaction{static_cast<PlaceNo>(place - f.places.begin() + 1), std::move(added)});
      told.insert(site);
    }
  }
  std::erase_if(findings, [&](const Finding& f) { return isUnlogged(f) && told.contains(f.places[0].siteId); });
}

}  // namespace blackout
