#include "judge/cured_too.h"

#include <algorithm>
#include <set>

#include "detect/detectors.h"
#include "detect/logged_ranges.h"
#include "events/trace.h"
#include "judge/cure.h"

namespace blackout {

namespace {

// The flush and the fence that were tried for a shown finding; none: it is about something else.
std::optional<Cure> triedFor(const Finding& shown) {
  const auto* cause = std::get_if<CrashCause>(&shown.claim);
  if (shown.kind != FindingKind::MissingFlush || cause == nullptr || !shown.shownBy) return std::nullopt;
  if (!cause->first || cause->first->level != 1 || cause->first->place == 0) return std::nullopt;
  auto flush = [](const Fact& fact) {
    const auto* tried = std::get_if<TriedCure>(&fact);
    return tried != nullptr && tried->cure == CureKind::Flush;
  };
  if (std::none_of(shown.evidence.begin(), shown.evidence.end(), flush)) return std::nullopt;
  Cure cure;
  auto add = [&](std::set<SiteKey>& to, const std::optional<SeenStore>& store) {
    if (!store || store->level != 1 || store->place == 0 || shown.place(store->place).siteId == 0) return false;
    to.insert({true, shown.place(store->place).siteId});
    return true;
  };
  if (!add(cure.after, cause->first)) return std::nullopt;
  add(cure.before, cause->second);
  cure.atOperationEnd = cause->promised.has_value();
  return cure;
}

// The bytes that a transaction had not logged, made durable at its end as logged ones are; none: nothing of the kind
// was tried for the shown finding.
std::vector<InsertedEvent> loggedAt(const Finding& shown, const Index& index) {
  const auto* cause = std::get_if<CrashCause>(&shown.claim);
  auto add = [](const Fact& fact) {
    const auto* tried = std::get_if<TriedCure>(&fact);
    return tried != nullptr && tried->cure == CureKind::Add;
  };
  if (cause == nullptr || !cause->first || cause->first->level != 1 || cause->first->place == 0 || !shown.shownBy ||
      std::none_of(shown.evidence.begin(), shown.evidence.end(), add))
    return {};
  const Trace& trace = index.trace();
  const SiteKey site{true, shown.place(cause->first->place).siteId};
  const LoggedRanges logged = loggedRanges(trace);
  std::vector<InsertedEvent> inserted;
  for (const UnloggedStore& u : logged.unlogged) {
    const EventNo end = logged.transactions[u.transaction].end;
    if (end == 0 || siteKey(trace, trace[u.at]) != site) continue;
    inserted.push_back({end, true, threadOf(trace[u.at]), lineOf(u.begin), false});
    inserted.push_back({end, true, threadOf(trace[u.at]), std::nullopt, true});
  }
  return inserted;
}

std::set<LineNo> linesOf(const Index& index, SiteKey site) {
  std::set<LineNo> lines;
  for (const StoreRow& row : index.stores())
    if (siteKey(index.trace(), index.trace()[row.event]) == site) lines.insert(index.lineNo(row.line));
  return lines;
}

}  // namespace

void joinCuredToo(std::vector<Finding>& findings, const Index& index) {
  std::set<const Finding*> joined;
  for (Finding& shown : findings) {
    const std::optional<Cure> cure = triedFor(shown);
    const std::vector<InsertedEvent> atEnd = cure ? std::vector<InsertedEvent>() : loggedAt(shown, index);
    if (!cure && atEnd.empty()) continue;
    const auto* cause = std::get_if<CrashCause>(&shown.claim);
    const PlaceNo first = cause->first->place;
    const std::uint64_t site = shown.place(first).siteId;
    const std::set<LineNo> lines = cure ? linesOf(index, *cure->after.begin()) : std::set<LineNo>();
    std::vector<const Finding*> wanting;
    for (const Finding& f : findings) {
      const auto* claim = std::get_if<NotDurable>(&f.claim);
      if (claim == nullptr || f.places[0].siteId == 0 || joined.contains(&f)) continue;
      // Of the bytes that a transaction lacks others in their line are no part.
      if (cure ? lines.contains(lineOf(index.trace()[claim->store.event].addr)) : f.places[0].siteId == site)
        wanting.push_back(&f);
    }
    if (wanting.empty()) continue;
    auto cured = withInserted(index, cure ? insertedBy(*cure, index) : atEnd);
    if (!cured) continue;
    const std::vector<Finding> left = detectNeverPersisted({index.trace(), *cured});
    for (const Finding* f : wanting) {
      const auto& claim = std::get<NotDurable>(f->claim);
      if (std::any_of(left.begin(), left.end(),
                      [&](const Finding& l) { return l.places[0].siteId == f->places[0].siteId; }))
        continue;
      PlaceNo where = first;
      if (f->places[0].siteId != site) {
        NumberedPlace place = f->places[0];
        place.label = "not durable either: stored here";
        place.incidental = true;
        shown.places.push_back(std::move(place));
        where = static_cast<PlaceNo>(shown.places.size());
      }
      shown.evidence.push_back(NotDurableEither{where, claim.when, f->counts.times, f->counts.of});
      joined.insert(f);
    }
  }
  std::vector<Finding> left;
  for (Finding& f : findings)
    if (!joined.contains(&f)) left.push_back(std::move(f));
  findings = std::move(left);
}

}  // namespace blackout
