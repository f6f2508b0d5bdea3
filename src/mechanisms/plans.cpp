#include "mechanisms/plans.h"

#include <algorithm>
#include <set>

#include "detect/by_site.h"
#include "events/trace.h"
#include "explore/seeded.h"
#include "explore/version_choice.h"

namespace blackout {

namespace {

// What makes entries count, or ends them, is one store: there or not.
bool isSwitch(MechanismPhase phase) {
  switch (phase) {
    case MechanismPhase::Allocate:
    case MechanismPhase::Commit:
    case MechanismPhase::Reclaim:
    case MechanismPhase::Record:
    case MechanismPhase::Publish:
    case MechanismPhase::Swap:
      return true;
    default:
      return false;
  }
}

// The version with these stores persisted, and as few (or as many) others as that takes.
class PlanChoice {
 public:
  PlanChoice(const Index& index, const CrashSpace& space) : index_(index), space_(space) {}

  // Only the stores, with what must come with them; all but the stores, and what can't be without them.
  std::optional<Restriction> only(const std::vector<StoreNo>& stores) const { return choose(stores, true); }
  std::optional<Restriction> allBut(const std::vector<StoreNo>& stores) const { return choose(stores, false); }

 private:
  std::optional<Restriction> choose(const std::vector<StoreNo>& stores, bool keep) const {
    std::map<TrackedNo, std::vector<StoreNo>> byLine;
    for (StoreNo s : stores) {
      LineNo line = index_.lineNo(index_.stores()[s].line);
      TrackedNo w = space_.baseline().tracked().find(line);
      if (w == TrackedBytes::kNone) return std::nullopt;
      byLine[w].push_back(s);
    }
    Restriction out;
    out.unnamed = keep ? Unrestricted::Least : Unrestricted::Newest;
    bool any = false;
    for (const auto& [w, mine] : byLine) {
      const UncertainLine& line = space_.line(w);
      if (line.versions.size() < 2) continue;
      auto version = bestOf(line, mine, keep);
      if (!version) continue;
      any = true;
      out.allowed.push_back({w, {*version}});
    }
    return any ? std::optional(out) : std::nullopt;
  }

  std::optional<std::uint32_t> bestOf(const UncertainLine& line, const std::vector<StoreNo>& stores, bool keep) const {
    auto history = index_.history(index_.stores()[stores.front()].line);
    std::vector<std::uint32_t> numbers;
    for (StoreNo s : stores)
      numbers.push_back(
          static_cast<std::uint32_t>(std::lower_bound(history.begin(), history.end(), s) - history.begin()));
    auto best =
        keep ? versionWith(line, numbers, {}, OtherStores::Fewest) : versionWith(line, {}, numbers, OtherStores::Most);
    if (best || !keep) return best;
    // Equal contents are one version, and it is told by the fewest stores: the newest has them all.
    return line.newest;
  }

  const Index& index_;
  const CrashSpace& space_;
};

bool same(const Restriction& a, const Restriction& b) { return a.allowed == b.allowed && a.unnamed == b.unnamed; }

}  // namespace

CrashPlans::CrashPlans(const Index& index, const Phases& phases, std::vector<EventNo> points,
                       const PlanOptions& options)
    : index_(index),
      phases_(phases),
      options_(options),
      executions_(executionsOf(index)),
      further_(*makeStrategy({StrategyKind::TwoPlan})) {
  // The stores of each transaction's phases; a phase may come more than once, as entries are logged one by one.
  struct Open {
    MechanismPhase phase{};
    std::vector<StoreNo> stores;
  };
  std::map<TransactionNo, Open> open;
  auto end = [&](Open& o) {
    if (o.stores.empty()) return;
    EventNo last = index.stores()[o.stores.back()].event;
    auto point = std::upper_bound(points.begin(), points.end(), last);
    if (point != points.end()) transitions_[*point].push_back({o.stores, o.phase});
    o.stores.clear();
  };
  for (StoreNo s : idRange<StoreNo>(index.stores().size())) {
    const StoreTag& tag = phases.tags[s];
    if (tag.transaction == kNoTransaction) continue;
    Open& o = open[tag.transaction];
    if (o.phase != tag.phase) end(o);
    o.phase = tag.phase;
    o.stores.push_back(s);
  }
  for (auto& [transaction, o] : open) end(o);
}

std::vector<StoreNo> CrashPlans::openStores(const CrashSpace& space) const {
  std::vector<StoreNo> out;
  EventNo point = space.baseline().point(space.pointNo());
  for (TrackedNo w : space.uncertain()) {
    LineId id = index_.lineId(space.baseline().tracked().line(w));
    if (id == kNoLine) continue;
    for (const LineStore& s : index_.openStores(id, point, 0, index_.historyLength(id, point))) out.push_back(s.store);
  }
  std::sort(out.begin(), out.end());
  return out;
}

// What neither the thread that comes to the point stored nor, if operations are marked, the operation that it is in:
// other threads, and deferred work. The thread's last store says where it is.
std::vector<StoreNo> CrashPlans::inBackground(const std::vector<StoreNo>& open, EventNo point) const {
  const Trace& trace = index_.trace();
  auto stores = index_.stores();
  if (open.empty() || point >= trace.end()) return {};
  const ThreadNo thread = threadOf(trace[point]);
  const StoreNo* last = nullptr;
  for (auto it = open.rbegin(); last == nullptr && it != open.rend(); ++it)
    if (threadOf(trace[stores[*it].event]) == thread) last = &*it;
  const Operation* mine = last == nullptr ? index_.operationOf(point) : index_.operationOf(stores[*last].event);
  std::vector<StoreNo> out;
  for (StoreNo s : open)
    if (threadOf(trace[stores[s].event]) != thread || index_.operationOf(stores[s].event) != mine) out.push_back(s);
  return out;
}

CrashPlans::Figures CrashPlans::figures() const {
  std::lock_guard lock(mutex_);
  Figures sum;
  for (const auto& [point, f] : counted_) {
    sum.plans += f.plans;
    sum.forAll += f.forAll;
  }
  return sum;
}

std::vector<std::vector<StoreNo>> CrashPlans::openUnprotected(const CrashSpace& space) const {
  // A copy, or any wide store, is one store.
  std::vector<std::vector<StoreNo>> unprotected;
  for (StoreNo s : openStores(space)) {
    if (phases_.isProtected(s)) continue;
    if (!unprotected.empty() && executions_[unprotected.back().front()] == executions_[s])
      unprotected.back().push_back(s);
    else
      unprotected.push_back({s});
  }
  return unprotected;
}

std::vector<UnprotectedPlan> CrashPlans::unprotected(const CrashSpace& space) const {
  std::vector<UnprotectedPlan> out;
  PlanChoice choice(index_, space);
  for (const std::vector<StoreNo>& stores : openUnprotected(space))
    for (bool keep : {true, false})
      if (auto r = keep ? choice.only(stores) : choice.allBut(stores)) out.push_back({stores, std::move(*r)});
  return out;
}

std::vector<Restriction> CrashPlans::plansOf(const CrashSpace& space) const {
  std::vector<Restriction> out;
  PlanChoice choice(index_, space);
  auto add = [&](std::optional<Restriction> r) {
    if (!r) return;
    if (std::none_of(out.begin(), out.end(), [&](const Restriction& o) { return same(o, *r); }))
      out.push_back(std::move(*r));
  };
  const std::vector<std::vector<StoreNo>> unprotected = openUnprotected(space);
  for (const std::vector<StoreNo>& stores : unprotected) {
    add(choice.only(stores));
    add(choice.allBut(stores));
    // Where a wide one may be torn is tried at one place.
    if (stores.size() < 2) continue;
    std::size_t cut = 1 + mix(options_.seed, space.identity(), stores.front().value()) % (stores.size() - 1);
    add(choice.only({stores.begin(), stores.begin() + static_cast<std::ptrdiff_t>(cut)}));
  }
  if (options_.pairs)
    for (std::size_t i = 0; i < unprotected.size(); ++i)
      for (std::size_t j = i + 1; j < unprotected.size(); ++j) {
        std::vector<StoreNo> both = unprotected[i];
        both.insert(both.end(), unprotected[j].begin(), unprotected[j].end());
        add(choice.only(both));
        add(choice.allBut(both));
      }
  if (auto background = inBackground(openStores(space), space.baseline().point(space.pointNo())); !background.empty()) {
    add(choice.only(background));
    add(choice.allBut(background));
  }
  auto transitions = transitions_.find(space.baseline().point(space.pointNo()));
  if (transitions == transitions_.end()) return out;
  for (const Transition& t : transitions->second) {
    if (isSwitch(t.phase)) {
      add(choice.only(t.stores));
      add(choice.allBut(t.stores));
    } else if (t.stores.size() > 1) {
      // Half of it, with everything else as it was; and the other half.
      auto half = t.stores.begin() + static_cast<std::ptrdiff_t>(t.stores.size() / 2);
      add(choice.only({t.stores.begin(), half}));
      add(choice.allBut({t.stores.begin(), half}));
    } else {
      add(choice.allBut(t.stores));
    }
  }
  return out;
}

const std::vector<Restriction>& CrashPlans::plans(const CrashSpace& space) const {
  if (last_ == &space && lastIdentity_ == space.identity()) return lastPlans_;
  lastPlans_ = plansOf(space);
  last_ = &space;
  lastIdentity_ = space.identity();
  return lastPlans_;
}

std::uint64_t CrashPlans::count(const CrashSpace& space) const {
  if (space.before() != nullptr) return further_->count(space);
  std::lock_guard lock(mutex_);
  std::uint64_t count = plans(space).size();
  counted_[space.pointNo()] = {count, space.uncertain().empty() ? 0 : further_->count(space)};
  return count;
}

Restriction CrashPlans::restriction(const CrashSpace& space, std::uint64_t number) const {
  if (space.before() != nullptr) return further_->restriction(space, number);
  std::lock_guard lock(mutex_);
  return plans(space)[number];
}

}  // namespace blackout
