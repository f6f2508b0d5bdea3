// Crash plans (Silhouette, 4.3.1) as a strategy: the states of a crash that are worth a look if a program's consistency
// mechanisms are known. For each store in flight that no mechanism protects: only it persisted, and all but it. For
// each transaction of a mechanism: what makes it count, or ends it, dropped and kept alone; a phase that takes several
// stores half persisted. The latter catch what a wrong description protects. What is written in the background (by
// other threads, or left over by earlier operations) all at once: with it alone, and with everything but it. Every plan
// is a choice among the versions of lines, so it is feasible.
#pragma once

#include <map>
#include <mutex>

#include "explore/strategies.h"
#include "mechanisms/phases.h"

namespace blackout {

struct PlanOptions {
  bool pairs = false;      // also each two unprotected stores of a point: only they, and all but they
  std::uint64_t seed = 1;  // of where a copy is cut
};

// What a plan does with one store that no mechanism protects: it alone persists, or all but it.
struct UnprotectedPlan {
  std::vector<StoreNo> stores;  // its pieces, ascending
  Restriction restriction;
};

class CrashPlans : public Strategy {
 public:
  // All must outlive it. `points`: at which the plug is pulled, ascending.
  CrashPlans(const Index& index, const Phases& phases, std::vector<EventNo> points, const PlanOptions& options);

  std::string_view name() const override { return nameOf(StrategyKind::Plans); }
  std::uint64_t count(const CrashSpace& space) const override;
  Restriction restriction(const CrashSpace& space, std::uint64_t number) const override;
  // Of a first crash: those of its plans that are about one unprotected store, in their order.
  std::vector<UnprotectedPlan> unprotected(const CrashSpace& space) const;

  // Of the spaces of first crashes that were asked for: how many plans there are, and how many two for each store in
  // flight would be.
  struct Figures {
    std::uint64_t plans = 0;
    std::uint64_t forAll = 0;
  };
  Figures figures() const;

 private:
  // A phase of a transaction, at the first point after its last store.
  struct Transition {
    std::vector<StoreNo> stores;
    MechanismPhase phase{};
  };
  const std::vector<Restriction>& plans(const CrashSpace& space) const;
  std::vector<Restriction> plansOf(const CrashSpace& space) const;
  std::vector<StoreNo> openStores(const CrashSpace& space) const;
  std::vector<StoreNo> inBackground(const std::vector<StoreNo>& open, EventNo point) const;
  // Those in flight that no mechanism protects; the pieces of a wide one together.
  std::vector<std::vector<StoreNo>> openUnprotected(const CrashSpace& space) const;

  const Index& index_;
  const Phases& phases_;
  PlanOptions options_;
  std::map<EventNo, std::vector<Transition>> transitions_;
  IdVector<StoreNo, StoreNo> executions_;
  std::shared_ptr<const Strategy> further_;  // of crashes in restarts
  // The plans of the space that was asked for last: they are asked for one after the other.
  mutable std::mutex mutex_;
  mutable const CrashSpace* last_ = nullptr;
  mutable std::uint64_t lastIdentity_ = 0;
  mutable std::vector<Restriction> lastPlans_;
  mutable std::map<PointNo, Figures> counted_;
};

}  // namespace blackout
