#include "judge/cause.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "detect/by_site.h"

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
      : probe_(probe), explorer_(probe.explorer()), options_(options) {}

  Result<std::vector<Cause>> run() {
    auto failing = collect();
    if (!failing) return tl::unexpected(failing.error());
    for (const FailingState& f : *failing)
      if (isWhole(f)) whole_.try_emplace(f.space, probe_.verdict(f.space, f.recovery).key);
    std::size_t examined = 0;
    for (const FailingState& f : *failing) {
      std::optional<std::size_t> cause = explained(f);
      // Where nothing is lost, little needs to be asked.
      bool over = options_.patience.over();
      if (!cause && !isWhole(f) && (over || examined++ >= options_.examined)) cause = unexamined(f);
      if (!cause) {
        auto named = nameCause(probe_, whole_, f.space, f.recovery, f.chosen, options_.naming);
        if (!named && !options_.patience.over()) return tl::unexpected(named.error());
        cause = named ? merged(std::move(*named)) : unexamined(f);
      }
      ++causes_[*cause].states;
      points_[*cause].insert(f.space);
      if (isWhole(f)) {
        windows_.emplace(f.space, *cause);
        byRecovery_.emplace(f.recovery, *cause);
      }
    }
    for (std::size_t i = 0; i < causes_.size(); ++i) causes_[i].points = points_[i].size();
    return std::move(causes_);
  }

 private:
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

  std::optional<std::size_t> explained(const FailingState& f) {
    // Elsewhere the very same recovery comes with nothing lost.
    if (auto at = byRecovery_.find(f.recovery); at != byRecovery_.end()) return at->second;
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
    return causes_.size() - 1;
  }

  // One mistake may lose several stores of one function: a node of which no field is flushed.
  bool same(const Cause& a, const Cause& b) {
    if (a.kind != b.kind) return false;
    if (a.kind == FindingKind::RecoveryFails) return a.key == b.key;
    auto firstA = siteOf(a.space, a.first), firstB = siteOf(b.space, b.first);
    auto secondA = siteOf(a.space, a.second), secondB = siteOf(b.space, b.second);
    auto equal = [](const auto& x, const auto& y) { return x && y && *x == *y; };
    if (equal(firstA, firstB)) return true;
    if (a.kind == FindingKind::NotAtomic)
      return equal(secondA, secondB) || (equal(firstA, secondB) && equal(secondA, firstB));
    std::string function = functionOf(a.space, a.first);
    return !function.empty() && function == functionOf(b.space, b.first) &&
           (equal(secondA, secondB) || (a.promised && b.promised));
  }

  std::size_t merged(Cause cause) {
    std::optional<std::size_t> at;
    for (std::size_t i = 0; i < causes_.size() && !at; ++i)
      if (causes_[i].examined && same(causes_[i], cause)) at = i;
    std::vector<StoreRef> stores;
    if (cause.eitherWay)
      stores = {*cause.first, *cause.second};
    else if (cause.kind != FindingKind::NotAtomic && cause.kind != FindingKind::StalePointer &&
             cause.kind != FindingKind::RecoveryFails)
      stores = cause.lost;
    SpaceNo space = cause.space;
    if (!at) at = add(std::move(cause));
    // What an earlier crash lost is no part of it.
    for (const StoreRef& ref : stores)
      if (ref.level == stores.back().level)
        if (auto site = siteOf(space, ref)) bySite_.emplace(*site, *at);
    return *at;
  }

  StateProbe& probe_;
  Explorer& explorer_;
  const CauseOptions& options_;
  std::vector<Cause> causes_;
  std::vector<std::set<SpaceNo>> points_;         // by cause
  std::map<SiteKey, std::size_t> bySite_;         // sites of lost stores, to their cause
  std::map<RecoveryNo, std::size_t> byRecovery_;  // recoveries that fail with nothing lost, to their cause
  WholeFailures whole_;
  std::map<SpaceNo, std::size_t> windows_;  // of them, those with a known cause
  std::optional<std::size_t> unexamined_;
};

}  // namespace

Result<std::vector<Cause>> findCauses(StateProbe& probe, const CauseOptions& options) {
  return Grouping(probe, options).run();
}

}  // namespace blackout
