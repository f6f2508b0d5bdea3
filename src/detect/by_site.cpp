#include "detect/by_site.h"

#include <algorithm>

namespace blackout {

SiteKey siteKey(const Trace& trace, const Event& e) {
  const Site* site = trace.siteOf(e);
  return site != nullptr ? SiteKey{true, site->id} : SiteKey{false, e.kind};
}

namespace {

bool isOf(AccessClass wanted, const Event& e) {
  switch (wanted) {
    case AccessClass::Store:
      return isStore(e) || kindOf(e) == EventKind::StoreOutside;
    case AccessClass::Flush:
      return groupOf(e) == EventGroup::Flush || kindOf(e) == EventKind::FlushOutside;
    case AccessClass::Fence:
      return groupOf(e) == EventGroup::Fence;
  }
  return false;
}

}  // namespace

StoreNo executionOf(const Index& index, StoreNo s) {
  auto stores = index.stores();
  const Trace& trace = index.trace();
  while (s > 0) {
    // The last event of the store before; the slot before this one might be some other event's payload.
    EventNo last = stores[s - 1].event;
    if ((trace[last].len & BLACKOUT_JOINED) != 0) ++last;
    if (last + 1 != stores[s].event || (trace[last].len & BLACKOUT_WIDE) == 0) break;
    --s;
  }
  return s;
}

Executions::Executions(const Trace& trace, const Regions& regions, AccessClass wanted) {
  // By place first: a lookup of the site per event would cost more than the rest.
  std::vector<std::uint64_t> byWhere(trace.whereCount());
  bool follows = false;  // the next event goes on with this one's store
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (!isOf(wanted, e)) {
      follows = false;
      continue;
    }
    bool first = !follows;
    follows = isStore(e) && (e.len & (BLACKOUT_WIDE | BLACKOUT_JOINED)) != 0;
    if (!first || !regions.contains(n)) continue;
    if (e.where != 0)
      ++byWhere[e.where];
    else
      ++counts_[siteKey(trace, e)];
  }
  for (WhereNo w = 1; w < byWhere.size(); ++w)
    if (byWhere[w] > 0)
      if (const Site* site = trace.site(trace.where(w)->site)) counts_[{true, site->id}] += byWhere[w];
}

std::uint64_t Executions::of(SiteKey key) const {
  auto it = counts_.find(key);
  return it == counts_.end() ? 0 : it->second;
}

NumberedPlace placeOfEvent(const Trace& trace, std::string label, EventNo n) {
  NumberedPlace place = placeOf(trace, std::move(label), trace[n].where);
  if (place.access.empty()) place.access = nameOf(kindOf(trace[n]));
  return place;
}

AffectedBytes affected(const Trace& trace, PmAddr addr, std::uint64_t size, const Event& e) {
  AffectedBytes out;
  FileNo f = fileOf(addr);
  if (f != 0 && f < trace.files().size()) out.file = trace.files()[f].path;
  out.offset = offsetOf(addr);
  out.size = size;
  if (const Site* site = trace.siteOf(e)) out.type = site->type;
  return out;
}

void addExample(Finding& finding, AffectedBytes example) {
  auto& examples = finding.examples;
  if (examples.size() < kMaxExamples && std::find(examples.begin(), examples.end(), example) == examples.end())
    examples.push_back(std::move(example));
}

}  // namespace blackout
