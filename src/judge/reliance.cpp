#include "judge/reliance.h"

#include <algorithm>
#include <tuple>

#include "detect/by_site.h"
#include "events/trace.h"
#include "judge/answer_judge.h"
#include "judge/order_judge.h"

namespace blackout {

std::pair<bool, std::size_t> Reliance::readDistance(const StoreRef& ref) const {
  TrackedNo w = s_.lineOf(ref);
  std::uint64_t mask = maskOf(s_.indexOf(ref), ref.store);
  std::size_t met = cause_.read.value_or(s_.detail.observations.size());
  auto reads = [&](std::size_t i) {
    const Query& q = s_.detail.observations[i].query;
    return q.kind == QueryKind::Bytes && q.line() == w && (q.mask & mask) != 0;
  };
  for (std::size_t i = met; i-- > 0;)
    if (reads(i)) return {false, met - i};
  for (std::size_t i = met; i < s_.detail.observations.size(); ++i)
    if (reads(i)) return {true, i - met};
  return {true, s_.detail.observations.size()};
}

std::vector<StoreRef> Reliance::candidates() const {
  const StoreRef lost = *cause_.first;
  std::vector<std::tuple<bool, std::pair<bool, std::size_t>, StoreRef>> ordered;
  constexpr std::uint32_t kNear = 64;  // stores, where operations are not marked
  const Operation* operation = s_.indexOf(lost).operationOf(s_.eventOf(lost));
  for (const StoreRef& ref : s_.survivors()) {
    if (ref > lost) {
      ordered.emplace_back(false, readDistance(ref), ref);
    } else if (livedWithout(ref, lost)) {
      continue;
    } else if (operation != nullptr ? s_.eventOf(ref) > operation->begin : lost.store - ref.store <= kNear) {
      ordered.emplace_back(true, std::pair(false, std::size_t{lost.store - ref.store}), ref);
    }
  }
  std::sort(ordered.begin(), ordered.end());
  std::vector<StoreRef> out;
  for (const auto& row : ordered) out.push_back(std::get<StoreRef>(row));
  if (out.size() > s_.options.candidates) out.resize(s_.options.candidates);
  return out;
}

bool Reliance::livedWithout(const StoreRef& earlier, const StoreRef& lost) const {
  // In a restart that is cut short, a crash before it had changed anything ends well, whatever is wrong with it.
  if (s_.level() > 1 || cause_.key == AnswerJudge::wrongAnswer(ExpectedAnswer::Basis::Operation).key) return false;
  unsigned fineInBetween = 0;
  for (SpaceNo s = cause_.space; s > 0 && s_.probe.sameRun(s - 1, cause_.space);) {
    --s;
    EventNo at = s_.explorer.space(s).at;
    if (at <= s_.eventOf(earlier)) return false;
    if (at <= s_.eventOf(lost) && !s_.whole.contains(s) && (++fineInBetween > 1 || unpaired(earlier, lost)))
      return true;
  }
  return false;
}

bool Reliance::unpaired(const StoreRef& earlier, const StoreRef& lost) const {
  const Trace& trace = s_.indexOf(lost).trace();
  const Event& stored = trace[s_.eventOf(lost)];
  SiteKey own = siteKey(trace, stored), other = siteKey(trace, trace[s_.eventOf(earlier)]);
  if (!own.known || !other.known || own == other) return false;
  bool fenced = false;
  for (EventNo n = trace.next(s_.eventOf(lost)); n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    fenced |= groupOf(e) == EventGroup::Fence && threadOf(e) == threadOf(stored);
    if (!isStore(e)) continue;
    SiteKey site = siteKey(trace, e);
    if (site == other) return false;
    if (fenced && site == own) return true;
  }
  return false;
}

Result<Reliance::Relation> Reliance::findRelated() {
  if (cause_.first->level != s_.level()) return Relation::None;
  std::vector<StoreRef> all = candidates();
  std::optional<StoreRef> pair;
  for (const StoreRef& ref : all) {
    auto gone = s_.fine(cause_.chosen, std::span(&ref, 1), std::nullopt);
    if (!gone) return tl::unexpected(gone.error());
    if (!*gone) continue;
    if (!pair) pair = ref;
    // Its own other parts can't wait for it.
    if (oneExecution({ref, *cause_.first})) continue;
    auto waits = canWait(std::span(&ref, 1));
    if (!waits) return tl::unexpected(waits.error());
    if (!*waits) continue;
    cause_.second = ref;
    cause_.tested = true;
    return Relation::Order;
  }
  if (pair) {
    cause_.second = pair;
    cause_.tested = true;
    return Relation::Together;
  }
  return findSeveral(std::move(all));
}

Result<Reliance::Relation> Reliance::findSeveral(std::vector<StoreRef> all) {
  std::vector<StoreRef> later;
  for (const StoreRef& ref : all)
    if (ref > *cause_.first) later.push_back(ref);
  std::vector<StoreRef> needed;
  for (std::vector<StoreRef>* set : {&later, &all}) {
    if (set->size() < 2) continue;
    auto gone = s_.fine(cause_.chosen, *set, std::nullopt);
    if (!gone) return tl::unexpected(gone.error());
    if (!*gone) continue;
    needed = std::move(*set);
    break;
  }
  if (needed.empty()) return Relation::None;
  // The likeliest come first and stay longest.
  for (std::size_t i = needed.size(); i-- > 0 && needed.size() > 2;) {
    std::vector<StoreRef> fewer = needed;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    auto gone = s_.fine(cause_.chosen, fewer, std::nullopt);
    if (!gone) return tl::unexpected(gone.error());
    if (*gone) needed = std::move(fewer);
  }
  auto waits = canWait(needed);
  if (!waits) return tl::unexpected(waits.error());
  cause_.second = needed.front();
  cause_.others.assign(needed.begin() + 1, needed.end());
  cause_.tested = true;
  if (*waits) cause_.others.clear();
  return *waits ? Relation::Order : Relation::Together;
}

bool Reliance::oneExecution(const std::vector<StoreRef>& all) const {
  auto [low, high] = std::minmax_element(all.begin(), all.end());
  if (low->level != high->level) return false;
  const Index& index = s_.indexOf(*low);
  const Trace& trace = index.trace();
  StackId where = stackOf(trace[s_.eventOf(*low)]);
  std::vector<StoreNo> pieces = piecesOf(index, low->store);
  if (pieces.back() >= high->store) return true;
  if (where == 0) return false;
  for (EventNo n = s_.eventOf(*low); n <= s_.eventOf(*high); n = trace.next(n))
    if (groupOf(trace[n]) != EventGroup::Load && (!isStore(trace[n]) || stackOf(trace[n]) != where)) return false;
  return true;
}

Result<bool> Reliance::canWait(std::span<const StoreRef> stores) {
  // A store to the same bytes is the next step, and no order of the two makes sense.
  for (const StoreRef& ref : stores)
    if (s_.overlap(ref, *cause_.first)) return false;
  auto next = s_.fine(cause_.chosen, stores, cause_.first);
  if (!next || !*next) return next;
  ChosenVersions repaired = cause_.chosen;
  repaired.versions.erase(s_.lostLine());
  return s_.fine(repaired, stores, std::nullopt);
}

Result<bool> Reliance::mirrorFails(const StoreRef& other) {
  const Index& index = s_.indexOf(other);
  LineId id = index.stores()[other.store].line;
  TrackedNo w = s_.lineOf(other);
  if (w == s_.lostLine()) return false;
  auto history = index.history(id);
  auto number =
      static_cast<std::uint32_t>(std::lower_bound(history.begin(), history.end(), other.store) - history.begin());
  const UncertainLine& l = s_.probe.crashSpace(cause_.space).line(w);
  std::optional<std::uint32_t> without;
  for (std::uint32_t v = 0; v < l.versions.size(); ++v)
    if (!l.versions[v].version.contains(number)) without = v;
  if (!without) return false;
  ChosenVersions mirror = cause_.chosen;
  mirror.versions.erase(s_.lostLine());
  mirror.versions[w] = *without;
  auto recovery = s_.probe.recoveryOf(cause_.space, mirror);
  if (!recovery) return tl::unexpected(recovery.error());
  return s_.probe.fails(cause_.space, *recovery);
}

std::optional<StoreRef> Reliance::settledSurvivor() {
  for (std::size_t i = cause_.read.value_or(0); i-- > 0;) {
    const Observation& o = s_.detail.observations[i];
    if (o.query.kind != QueryKind::Bytes || o.classes > 1) continue;
    std::vector<StoreRef> from = s_.explorer.mayReadFrom(cause_.space, cause_.recovery, i);
    auto latest = std::max_element(from.begin(), from.end());
    if (latest == from.end() || latest->store == kNoStore || latest->level != cause_.first->level) continue;
    if (*latest > *cause_.first) return *latest;
  }
  return std::nullopt;
}

std::optional<SpaceNo> Reliance::cutElsewhere() const {
  const Operation* operation = s_.level() == 1 ? s_.indexes[0]->operationOf(s_.eventOf(*cause_.first)) : nullptr;
  for (const auto& [space, key] : s_.whole) {
    const SpaceInfo& info = s_.explorer.space(space);
    if (info.level == s_.level() && (operation == nullptr || (info.at > operation->begin && info.at <= operation->end)))
      return space;
  }
  return std::nullopt;
}

std::optional<EventNo> Reliance::operationEnd() const {
  if (cause_.first->level != 1) return std::nullopt;
  bool asked = dependsOnOperations(cause_.key) ||
               std::any_of(s_.detail.observations.begin(), s_.detail.observations.end(),
                           [](const Observation& o) { return o.query.kind == QueryKind::Op; });
  if (!asked) return std::nullopt;
  const Operation* operation = s_.indexes[0]->operationOf(s_.eventOf(*cause_.first));
  if (operation == nullptr || operation->end >= s_.probe.crashOf(cause_.space, 1)) return std::nullopt;
  return operation->end;
}

std::pair<std::optional<StoreRef>, std::optional<StoreRef>> Reliance::around(const StoreRef& store) const {
  std::set<StoreRef> all = s_.survivors();
  auto at = all.lower_bound(store);
  auto before = at == all.begin() ? std::nullopt : std::optional(*std::prev(at));
  return {before, at == all.end() ? std::nullopt : std::optional(*at)};
}

}  // namespace blackout
