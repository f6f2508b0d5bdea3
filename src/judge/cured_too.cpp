#include "judge/cured_too.h"

#include <algorithm>
#include <set>

#include "detect/detectors.h"
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
    std::optional<Cure> cure = triedFor(shown);
    if (!cure) continue;
    const std::set<LineNo> lines = linesOf(index, *cure->after.begin());
    std::vector<const Finding*> wanting;
    for (const Finding& f : findings) {
      const auto* claim = std::get_if<NotDurable>(&f.claim);
      if (claim != nullptr && f.places[0].siteId != 0 && !joined.contains(&f) &&
          lines.contains(lineOf(index.trace()[claim->store.event].addr)))
        wanting.push_back(&f);
    }
    if (wanting.empty()) continue;
    auto cured = withInserted(index, insertedBy(*cure, index));
    if (!cured) continue;
    const std::vector<Finding> left = detectNeverPersisted({index.trace(), *cured});
    for (const Finding* f : wanting) {
      const auto& claim = std::get<NotDurable>(f->claim);
      if (std::any_of(left.begin(), left.end(),
                      [&](const Finding& l) { return l.places[0].siteId == f->places[0].siteId; }))
        continue;
      NumberedPlace place = f->places[0];
      place.label = "not durable either: stored here";
      place.incidental = true;
      shown.places.push_back(std::move(place));
      shown.evidence.push_back(
          NotDurableEither{static_cast<PlaceNo>(shown.places.size()), claim.when, f->counts.times, f->counts.of});
      joined.insert(f);
    }
  }
  std::vector<Finding> left;
  for (Finding& f : findings)
    if (!joined.contains(&f)) left.push_back(std::move(f));
  findings = std::move(left);
}

}  // namespace blackout
