#include "judge/cause.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "detect/by_site.h"
#include "events/trace.h"
#include "judge/fixes.h"

namespace blackout {

namespace {

struct FailingState {
  std::size_t order = 0;  // in which it was explored
  SpaceNo space = 0;
  RecoveryNo recovery = 0;
  ChosenVersions chosen;
  std::vector<StoreRef> lost;
};

class Grouping {
 public:
  Grouping(StateProbe& probe, const CauseOptions& options)
      : probe_(probe), trial_(probe), explorer_(probe.explorer()), options_(options) {}

  Result<std::vector<Cause>> run() {
    auto failing = collect();
    if (!failing) return tl::unexpected(failing.error());
    for (const FailingState& f : *failing)
      if (isWhole(f)) whole_.try_emplace(f.space, probe_.verdict(f.space, f.recovery).key);
    if (auto ok = attribute(*failing); !ok) return tl::unexpected(ok.error());
    // What a transaction had not logged explains failures of other kinds, perhaps such as were looked at before it.
    if (keepNotAdded())
      if (auto ok = attribute(*failing); !ok) return tl::unexpected(ok.error());
    for (std::size_t i = 0; i < causes_.size(); ++i) {
      causes_[i].points = points_[i].size();
      if (options_.patience.over()) continue;
      causes_[i].fixes = fixesOf(trial_, probe_, causes_[i], members_[i]);
      causes_[i].logged = isLoggedAway(causes_[i], members_[i]);
    }
    return std::move(causes_);
  }

 private:
  // Gives each failing state its cause.
  Result<void> attribute(const std::vector<FailingState>& failing) {
    std::size_t examined = 0;
    for (const FailingState& f : failing) {
      std::optional<std::size_t> cause = explained(f);
      // Where nothing is lost, little needs to be asked.
      bool over = options_.patience.over();
      if (!cause && !isWhole(f) && (over || examined++ >= options_.examined)) cause = unexamined(f);
      if (!cause) {
        auto named = nameCause(probe_, trial_, whole_, f.space, f.recovery, f.chosen, options_.naming);
        if (!named && !options_.patience.over()) return tl::unexpected(named.error());
        cause = named ? merged(std::move(*named)) : unexamined(f);
      }
      ++causes_[*cause].states;
      const Verdict& verdict = probe_.verdict(f.space, f.recovery);
      causes_[*cause].symptoms.try_emplace(verdict.key, verdict.symptom);
      members_[*cause].emplace_back(f.space, f.recovery);
      causes_[*cause].stage = std::min(causes_[*cause].stage, explorer_.stageOf(f.space, f.recovery));
      if (curedBy(causes_[*cause], f)) ++causes_[*cause].cured;
      for (const StoreRef& ref : f.lost)
        if (auto site = ref.level == 1 ? siteOf(f.space, ref) : std::nullopt) causes_[*cause].lostSites.insert(*site);
      points_[*cause].insert(f.space);
      if (isWhole(f)) {
        windows_.emplace(f.space, *cause);
        byRecovery_.emplace(f.recovery, *cause);
      }
    }
    return {};
  }

  // Forgets all other causes, and which states belong to them. False: nothing is to be done again.
  bool keepNotAdded() {
    auto rest =
        std::stable_partition(causes_.begin(), causes_.end(), [](const Cause& c) { return c.notAdded.has_value(); });
    if (rest == causes_.begin() || rest == causes_.end() || options_.patience.over()) return false;
    causes_.erase(rest, causes_.end());
    for (Cause& c : causes_) {
      c.states = c.points = c.cured = 0;
      c.stage = TestStage::None;
      c.symptoms.clear();
      c.lostSites.clear();
    }
    points_.assign(causes_.size(), {});
    members_.assign(causes_.size(), {});
    bySite_.clear();
    byRecovery_.clear();
    windows_.clear();
    unexamined_.reset();
    putBack_.clear();
    triedBack_ = 0;
    return true;
  }

  Result<std::vector<FailingState>> collect() {
    std::vector<FailingState> failing;
    for (SpaceNo s : idRange<SpaceNo>(explorer_.spaceCount()))
      for (RecoveryNo recovery : explorer_.space(s).recoveries) {
        if (!probe_.fails(s, recovery)) continue;
        if (!options_.withoutCrash.empty() && probe_.fails(s, recovery, options_.withoutCrash)) continue;
        FailingState f{failing.size(), s, recovery, probe_.largest(s, recovery), {}};
        auto lost = probe_.lostStores(s, f.chosen);
        if (!lost) return tl::unexpected(lost.error());
        f.lost = std::move(*lost);
        failing.push_back(std::move(f));
      }
    std::sort(failing.begin(), failing.end(), [](const FailingState& a, const FailingState& b) {
      return std::tuple(a.lost.size(), a.order) < std::tuple(b.lost.size(), b.order);
    });
    return failing;
  }

  bool isWhole(const FailingState& f) const { return probe_.isWhole(f.space, f.lost); }

  const Event* eventOf(SpaceNo space, const StoreRef& ref, const Trace** trace) {
    auto indexes = probe_.indexes(space);
    if (!indexes) return nullptr;
    const Index& index = *(*indexes)[ref.level - 1];
    *trace = &index.trace();
    return &index.trace()[index.stores()[ref.store].event];
  }
  std::optional<SiteKey> siteOf(SpaceNo space, const std::optional<StoreRef>& ref) {
    const Trace* trace = nullptr;
    const Event* e = ref ? eventOf(space, *ref, &trace) : nullptr;
    return e == nullptr ? std::nullopt : std::optional(siteKey(*trace, *e));
  }
  std::string functionOf(SpaceNo space, const std::optional<StoreRef>& ref) {
    const Trace* trace = nullptr;
    const Event* e = ref ? eventOf(space, *ref, &trace) : nullptr;
    return e == nullptr ? std::string() : blackout::functionOf(*trace, *e);
  }

  static const Index& applied(const Cause& cause) { return *cause.applied->index; }

  // Whether the cause's flushes and fences would keep the state from coming about.
  bool curedBy(const Cause& cause, const FailingState& f) {
    if (cause.applied == nullptr) return false;
    // As long as everything that it loses may be lost, it can come about.
    unsigned level = explorer_.space(f.space).level;
    EventNo at = explorer_.space(f.space).at;
    auto durable = [&](const StoreRef& ref) {
      return ref.level == level && ref.store < applied(cause).stores().endId() &&
             applied(cause).stores()[ref.store].guaranteedAt < at;
    };
    if (std::none_of(f.lost.begin(), f.lost.end(), durable)) return false;
    return !trial_.leaves(*cause.applied, f.space, f.recovery).value_or(true);
  }

  std::optional<std::size_t> explained(const FailingState& f) {
    // Elsewhere the very same recovery comes with nothing lost.
    if (auto at = byRecovery_.find(f.recovery); at != byRecovery_.end()) return at->second;
    // While a pool is being made, restarts fail in many ways.
    for (std::size_t i = 0; i < causes_.size(); ++i)
      if (const auto& window = causes_[i].window;
          causes_[i].creation && window && window->first <= f.space && f.space <= window->second)
        return i;
    // A cure that was tried is one for it too.
    for (std::size_t i = 0; i < causes_.size(); ++i)
      if (curedBy(causes_[i], f)) return i;
    for (std::size_t i = 0; i < causes_.size(); ++i)
      if (isPutBack(causes_[i], i, f) || isOfUpdate(causes_[i], f)) return i;
    // It loses what was found to matter; what an earlier crash lost has its own findings.
    for (const StoreRef& ref : f.lost) {
      auto site = ref.level < explorer_.space(f.space).level ? std::nullopt : siteOf(f.space, ref);
      auto at = site ? bySite_.find(*site) : bySite_.end();
      if (at != bySite_.end()) return at->second;
    }
    // With nothing lost it fails in the same way.
    auto whole = whole_.find(f.space);
    if (isWhole(f) || whole == whole_.end() || !probe_.fails(f.space, f.recovery, whole->second)) return std::nullopt;
    auto window = windows_.find(f.space);
    return window == windows_.end() ? std::nullopt : std::optional(window->second);
  }

  // Whether a crash in a transaction would do no harm if that had logged the bytes of the cause: with these as they
  // were before it, the restart ends well. Bytes that were added too late are in the log as well, where they can't be
  // put right: there a restart belongs to the cause that answers as one does for which it was shown.
  bool isPutBack(const Cause& cause, std::size_t number, const FailingState& f) {
    if (!cause.notAdded || explorer_.space(f.space).level != 1) return false;
    const EventNo at = explorer_.space(f.space).at;
    auto indexes = probe_.indexes(f.space);
    const Cause::NotAdded* there = indexes ? notAddedBefore(*indexes->front(), cause, at) : nullptr;
    if (there == nullptr || at <= there->in.begin || at > there->in.end) return false;
    std::vector<StoreRef> made = madeUnlogged(*indexes->front(), *there, at);
    const Outcome& outcome = explorer_.outcome(explorer_.outcomeNo(f.recovery));
    std::vector<OutcomeNo>& shown = putBack_[number];
    if (shown.empty()) shown.push_back(explorer_.outcomeNo(cause.recovery));
    // One that loses them fails for want of what the end of the transaction would have done: that is tried on its own.
    auto site = siteOf(cause.space, StoreRef{1, cause.notAdded->stores.front()});
    bool loses =
        std::any_of(f.lost.begin(), f.lost.end(), [&](const StoreRef& ref) { return siteOf(f.space, ref) == site; });
    if (!loses &&
        std::any_of(shown.begin(), shown.end(), [&](OutcomeNo o) { return sameAnswer(explorer_.outcome(o), outcome); }))
      return true;
    if (options_.patience.over() || triedBack_++ >= options_.examined) return false;
    auto judged = probe_.without(f.space, f.chosen, made);
    if (!judged || *judged != Judgement::Fine) return false;
    shown.push_back(explorer_.outcomeNo(f.recovery));
    return true;
  }

  // Whether it keeps a part of an update that the crash cuts in two: all that it loses is of that, and with nothing of
  // it the restart ends well.
  bool isOfUpdate(const Cause& cause, const FailingState& f) {
    if (cause.begun.empty() || explorer_.space(f.space).level != 1 || isWhole(f)) return false;
    auto indexes = probe_.indexes(f.space);
    if (!indexes) return false;
    const Index& index = *indexes->front();
    auto stores = index.stores();
    auto next = std::lower_bound(stores.begin(), stores.end(), explorer_.space(f.space).at,
                                 [](const StoreRow& row, EventNo crash) { return row.event < crash; });
    std::vector<StoreRef> begun;
    while (next != stores.begin() && cause.begun.contains(siteKey(index.trace(), index.trace()[(next - 1)->event])))
      begun.push_back({1, static_cast<StoreNo>(--next - stores.begin())});
    auto begins = [&](const StoreRef& ref) { return std::find(begun.begin(), begun.end(), ref) != begun.end(); };
    if (!std::all_of(f.lost.begin(), f.lost.end(), begins)) return false;
    if (options_.patience.over() || triedOfUpdate_++ >= options_.examined) return false;
    auto judged = probe_.without(f.space, f.chosen, begun);
    return judged && *judged == Judgement::Fine;
  }

  // Whether each of the failing states is gone if the transaction logs the bytes before the cause's instruction changes
  // them: rolled back as they would be, a restart ends well; and after the transaction's end they would be durable.
  bool isLoggedAway(const Cause& cause, const std::vector<FailingRestart>& failing) {
    constexpr std::size_t kMost = 256;  // restarts
    if (cause.cure != CureKind::Add || !cause.notAdded || failing.size() > kMost) return false;
    std::shared_ptr<CureTrial::Applied> durable;
    for (const auto& [space, recovery] : failing) {
      if (options_.patience.over() || explorer_.space(space).level != 1) return false;
      auto indexes = probe_.indexes(space);
      const EventNo at = explorer_.space(space).at;
      const Cause::NotAdded* there = indexes ? notAddedBefore(*indexes->front(), cause, at) : nullptr;
      if (there == nullptr || at <= there->in.begin) return false;
      const Index& index = *indexes->front();
      SiteKey site = siteKey(index.trace(), index.trace()[index.stores()[there->stores.front()].event]);
      if (at > there->in.end) {
        if (durable == nullptr) {
          Cure cure;
          cure.after.insert(site);
          cure.put = Cure::Put::After;
          auto applied = trial_.apply(cure, space);
          if (!applied) return false;
          durable = *applied;
        }
        if (trial_.leaves(*durable, space, recovery).value_or(true)) return false;
        continue;
      }
      std::vector<StoreRef> made = madeUnlogged(index, *there, at);
      // Once the log no longer counts, nothing is put back: by then they are durable.
      if (cause.applied != nullptr && !trial_.leaves(*cause.applied, space, recovery).value_or(true)) continue;
      // Another instruction that changed them first would be too early for it.
      bool own = std::all_of(made.begin(), made.end(), [&](const StoreRef& ref) {
        return siteKey(index.trace(), index.trace()[index.stores()[ref.store].event]) == site;
      });
      if (made.empty() || !own) return false;
      auto judged = probe_.without(space, probe_.largest(space, recovery), made);
      if (!judged || *judged != Judgement::Fine) return false;
    }
    return !failing.empty();
  }

  // The same at the last execution of the cause's instruction before a crash; null: it is logged there.
  const Cause::NotAdded* notAddedBefore(const Index& index, const Cause& cause, EventNo at) {
    auto site = siteOf(cause.space, StoreRef{1, cause.notAdded->stores.front()});
    auto stores = index.stores();
    auto next = std::lower_bound(stores.begin(), stores.end(), at,
                                 [](const StoreRow& row, EventNo crash) { return row.event < crash; });
    while (next != stores.begin()) {
      --next;
      if (!site || siteKey(index.trace(), index.trace()[next->event]) != *site) continue;
      auto store = static_cast<StoreNo>(next - stores.begin());
      auto [known, fresh] = notAdded_.try_emplace(store);
      if (auto in = fresh ? unloggedStore(index, store) : std::nullopt)
        known->second = Cause::NotAdded{*in, piecesOf(index, store)};
      return known->second ? &*known->second : nullptr;
    }
    return nullptr;
  }

  std::size_t unexamined(const FailingState& f) {
    if (!unexamined_) {
      Cause cause;
      cause.kind = FindingKind::RecoveryFails;
      cause.space = f.space;
      cause.chosen = f.chosen;
      cause.recovery = f.recovery;
      cause.key = probe_.verdict(f.space, f.recovery).key;
      cause.lost = f.lost;
      cause.examined = false;
      unexamined_ = add(std::move(cause));
    }
    return *unexamined_;
  }

  std::size_t add(Cause cause) {
    causes_.push_back(std::move(cause));
    points_.emplace_back();
    members_.emplace_back();
    return causes_.size() - 1;
  }

  std::optional<std::tuple<unsigned, PmAddr, unsigned>> bytesOf(const Cause& cause) {
    const Trace* trace = nullptr;
    const Event* e = cause.first ? eventOf(cause.space, *cause.first, &trace) : nullptr;
    if (e == nullptr) return std::nullopt;
    return std::tuple(cause.first->level, e->addr, blackout::bytesOf(*e));
  }

  // Whether a store of another cause's site went to the same object as this one: to its line or to the next, not long
  // before or after, and with no fence in between: what was to be made durable apart is a mistake of its own.
  bool sameObject(const Cause& a, const Cause& b) {
    auto indexes = probe_.indexes(b.space);
    auto site = siteOf(a.space, a.first);
    if (!indexes || !site || b.first->level != explorer_.space(b.space).level) return false;
    const Index& index = *(*indexes)[b.first->level - 1];
    auto stores = index.stores();
    constexpr std::uint32_t kNear = 256;
    std::uint32_t at = b.first->store.value();
    std::uint64_t line = index.lineNo(stores[b.first->store].line).value();
    for (std::uint32_t s = at - std::min(at, kNear); s < std::min<std::uint64_t>(stores.size(), at + kNear); ++s) {
      std::uint64_t other = index.lineNo(stores[StoreNo(s)].line).value();
      if (std::max(line, other) - std::min(line, other) <= 1 &&
          siteKey(index.trace(), index.trace()[stores[StoreNo(s)].event]) == *site &&
          !fenceBetween(index.trace(), stores[StoreNo(s)].event, stores[b.first->store].event))
        return true;
    }
    return false;
  }

  static bool fenceBetween(const Trace& trace, EventNo a, EventNo b) {
    for (EventNo n = std::min(a, b); n < std::max(a, b); n = trace.next(n))
      if (groupOf(trace[n]) == EventGroup::Fence && threadOf(trace[n]) == threadOf(trace[a])) return true;
    return false;
  }

  // The same two stores: here they must change places, there too, only that it seemed to make no sense.
  bool isOrderOf(const Cause& order, const Cause& update) {
    if (order.kind != FindingKind::WrongOrder || order.cure != CureKind::Order || !update.canWait) return false;
    auto early = siteOf(order.space, order.second), late = siteOf(order.space, order.first);
    return early && late && early == siteOf(update.space, update.first) && late == siteOf(update.space, update.second);
  }

  // Bytes that a transaction had not logged are not put back by a rollback, and not made durable by its end either. The
  // cure of the one is that of the other if what is lost is stored by the same instruction, without being logged there,
  // and can't be lost once it is durable before what relies on it. Null: it is another mistake.
  std::shared_ptr<CureTrial::Applied> loggedDurable(const Cause& cause, const Cause& lost) {
    if (!cause.notAdded || !lost.first || explorer_.space(lost.space).level != 1 ||
        std::find(lost.lost.begin(), lost.lost.end(), *lost.first) == lost.lost.end())
      return nullptr;
    auto site = siteOf(lost.space, lost.first);
    auto indexes = probe_.indexes(lost.space);
    if (!site || !indexes || site != siteOf(cause.space, StoreRef{1, cause.notAdded->stores.front()}) ||
        !unloggedStore(*indexes->front(), lost.first->store))
      return nullptr;
    Cure cure;
    if (cause.applied != nullptr) cure = cause.applied->cure;
    cure.after.insert(*site);
    if (lost.applied != nullptr) {
      const Cure& tried = lost.applied->cure;
      cure.before.insert(tried.before.begin(), tried.before.end());
      cure.atOperationEnd |= tried.atOperationEnd;
    } else if (auto relies = siteOf(lost.space, lost.second)) {
      cure.before.insert(*relies);
    } else {
      return nullptr;
    }
    // A log says nothing of what is lost before the end of its transaction.
    cure.put = cure.atOperationEnd || cure.before.empty() ? Cure::Put::Everywhere : Cure::Put::Before;
    auto applied = trial_.apply(cure, lost.space);
    if (!applied || trial_.leaves(**applied, lost.space, lost.recovery).value_or(true)) return nullptr;
    return std::move(*applied);
  }

  // The bytes that the executions of an instruction store to.
  std::vector<std::pair<PmAddr, PmAddr>> rangesOf(const Index& index, const SiteKey& site) {
    std::vector<std::pair<PmAddr, PmAddr>> ranges;
    for (const StoreRow& row : index.stores())
      if (const Event& e = index.trace()[row.event]; siteKey(index.trace(), e) == site)
        ranges.emplace_back(e.addr, e.addr + blackout::bytesOf(e));
    std::sort(ranges.begin(), ranges.end());
    return ranges;
  }

  bool storeToTheSame(const Index& index, const SiteKey& a, const SiteKey& b) {
    auto ranges = rangesOf(index, a), others = rangesOf(index, b);
    auto i = ranges.begin();
    for (const auto& [begin, end] : others) {
      while (i != ranges.end() && i->second <= begin) ++i;
      if (i != ranges.end() && i->first < end) return true;
    }
    return false;
  }

  // Two updates of the same two places, one of which begins with what the other ends with, and restarts that fail by
  // the same expectation: either leaves the one place with and the other without, and what is missing is one repair.
  bool isMirrored(const Cause& a, const Cause& b) {
    if (a.kind != FindingKind::NotAtomic || b.kind != FindingKind::NotAtomic || a.cure != CureKind::Atomic ||
        b.cure != CureKind::Atomic || a.key != b.key || a.sameBytes || b.sameBytes)
      return false;
    if (!a.others.empty() || !b.others.empty() || explorer_.space(a.space).level != 1 ||
        explorer_.space(b.space).level != 1)
      return false;
    auto firstA = siteOf(a.space, a.first), secondA = siteOf(a.space, a.second);
    auto firstB = siteOf(b.space, b.first), secondB = siteOf(b.space, b.second);
    auto indexes = probe_.indexes(a.space);
    return indexes && firstA && secondA && firstB && secondB && storeToTheSame(*indexes->front(), *firstA, *secondB) &&
           storeToTheSame(*indexes->front(), *secondA, *firstB);
  }

  // One mistake may lose several stores of one function: a node of which no field is flushed.
  bool same(const Cause& a, const Cause& b) {
    // A value that the restart does not cope with, wherever it is stored: a lock.
    if (a.sameBytes && b.sameBytes && bytesOf(a) == bytesOf(b)) return true;
    if (isOrderOf(a, b) || isOrderOf(b, a)) return true;
    if (a.kind != b.kind) return false;
    if (a.creation && b.creation && a.window == b.window) return true;
    if (a.kind == FindingKind::RecoveryFails) return a.key == b.key;
    auto firstA = siteOf(a.space, a.first), firstB = siteOf(b.space, b.first);
    auto secondA = siteOf(a.space, a.second), secondB = siteOf(b.space, b.second);
    auto equal = [](const auto& x, const auto& y) { return x && y && *x == *y; };
    if (equal(firstA, firstB)) return true;
    if (a.kind == FindingKind::NotAtomic)
      return equal(secondA, secondB) || (equal(firstA, secondB) && equal(secondA, firstB));
    std::string function = functionOf(a.space, a.first);
    return !function.empty() && function == functionOf(b.space, b.first) &&
           (equal(secondA, secondB) || (a.promised && b.promised)) && sameObject(a, b);
  }

  // One mistake in several places is cured by the cures of all of them.
  void joinCures(Cause& cause, const Cause& further) {
    if (cause.applied == nullptr || cause.applied->level != further.applied->level ||
        cause.applied->through != further.applied->through)
      return;
    Cure both = cause.applied->cure;
    const Cure& other = further.applied->cure;
    if (both.flush != other.flush || both.event || other.event) return;
    both.after.insert(other.after.begin(), other.after.end());
    both.before.insert(other.before.begin(), other.before.end());
    both.atOperationEnd |= other.atOperationEnd;
    if (auto applied = trial_.apply(both, further.space)) cause.applied = std::move(*applied);
  }

  std::size_t merged(Cause cause) {
    std::optional<std::size_t> at;
    for (std::size_t i = 0; i < causes_.size() && !at; ++i) {
      if (!causes_[i].examined) continue;
      if (auto durable = loggedDurable(causes_[i], cause)) {
        causes_[i].applied = std::move(durable);
        return i;
      }
      if (same(causes_[i], cause)) at = i;
    }
    for (std::size_t i = 0; i < causes_.size() && !at; ++i)
      if (causes_[i].examined && isMirrored(causes_[i], cause)) {
        if (!causes_[i].mirrored) causes_[i].mirrored.emplace(*cause.first, *cause.second);
        at = i;
      }
    std::vector<StoreRef> stores;
    if (cause.eitherWay || (cause.kind == FindingKind::NotAtomic && !cause.others.empty()))
      stores = {*cause.first, *cause.second};
    else if (cause.lines != 0)
      stores = {*cause.first};
    else if (cause.kind != FindingKind::NotAtomic && cause.kind != FindingKind::StalePointer &&
             cause.kind != FindingKind::RecoveryFails)
      stores = cause.lost;
    if (cause.kind == FindingKind::NotAtomic) stores.insert(stores.end(), cause.others.begin(), cause.others.end());
    SpaceNo space = cause.space;
    bool cured = cause.applied != nullptr;
    if (!at) {
      at = add(std::move(cause));
    } else {
      if (cured) joinCures(causes_[*at], cause);
      causes_[*at].begun.insert(cause.begun.begin(), cause.begun.end());
      if (isOrderOf(cause, causes_[*at])) {
        // What cures all of it is told.
        Cause& known = causes_[*at];
        cause.states = known.states;
        cause.cured = known.cured;
        cause.stage = known.stage;
        cause.lostSites = std::move(known.lostSites);
        cause.symptoms = std::move(known.symptoms);
        cause.begun = std::move(known.begun);
        known = std::move(cause);
      }
    }
    // What a cure was tried for is told by that. What an earlier crash lost is no part of it.
    if (cured && explorer_.space(space).level == 1) return *at;
    for (const StoreRef& ref : stores)
      if (ref.level == stores.back().level)
        if (auto site = siteOf(space, ref)) bySite_.emplace(*site, *at);
    return *at;
  }

  StateProbe& probe_;
  CureTrial trial_;
  Explorer& explorer_;
  const CauseOptions& options_;
  std::vector<Cause> causes_;
  std::vector<std::set<SpaceNo>> points_;             // by cause
  std::vector<std::vector<FailingRestart>> members_;  // by cause: its states
  std::map<SiteKey, std::size_t> bySite_;             // sites of lost stores, to their cause
  std::map<RecoveryNo, std::size_t> byRecovery_;      // recoveries that fail with nothing lost, to their cause
  WholeFailures whole_;
  std::map<SpaceNo, std::size_t> windows_;  // of them, those with a known cause
  std::optional<std::size_t> unexamined_;
  std::map<std::size_t, std::vector<OutcomeNo>> putBack_;  // by cause: how restarts end that it was tried for
  std::size_t triedBack_ = 0;
  std::size_t triedOfUpdate_ = 0;
  std::map<StoreNo, std::optional<Cause::NotAdded>> notAdded_;  // by store of the recording
};

}  // namespace

Result<std::vector<Cause>> findCauses(StateProbe& probe, const CauseOptions& options) {
  return Grouping(probe, options).run();
}

}  // namespace blackout
