#include "judge/unprotected_stores.h"

#include <algorithm>
#include <map>
#include <set>

#include "detect/by_site.h"
#include "events/trace.h"

namespace blackout {

namespace {

// What a restart had done when it said on which side it found the program.
struct Recovered {
  bool after = false;
  struct Written {
    std::uint64_t mask = 0;
    LineBytes bytes{};
  };
  std::map<TrackedNo, Written> written;     // by itself
  std::map<TrackedNo, std::uint64_t> read;  // up to its end
};

std::uint64_t bit(unsigned byte) { return std::uint64_t{1} << byte; }

class UnprotectedStores {
 public:
  UnprotectedStores(const ShowContext& context, const CrashPlans& plans)
      : context_(context),
        plans_(plans),
        explorer_(context.explorer),
        index_(context.baseline.index()),
        trace_(index_.trace()),
        tracked_(context.baseline.tracked()) {}

  Result<std::vector<ShownFinding>> run() {
    for (SpaceNo s = 0; s.value() < explorer_.spaceCount() && explorer_.space(s).level == 1; ++s) {
      // What a bound left out is not made here.
      if (!explorer_.space(s).complete) continue;
      const Operation* operation = interrupted(explorer_.space(s).at);
      if (operation == nullptr) continue;
      std::shared_ptr<const CrashSpace> space = explorer_.crashSpace(s);
      for (const UnprotectedPlan& plan : plans_.unprotected(*space)) {
        if (context_.patience.over()) break;
        if (auto ok = judge(s, *space, *operation, plan); !ok) return tl::unexpected(ok.error());
      }
    }
    std::vector<ShownFinding> out;
    for (const auto& [key, group] : groups_) out.push_back(tell(group));
    return out;
  }

 private:
  struct Group {
    SpaceNo space = 0;
    ChosenVersions chosen{UnnamedLines::Least};
    Outcome outcome;
    StoreNo store = 0;
    const Operation* operation = nullptr;
    bool after = false;
    ByteValue held;
    std::set<SpaceNo> points;
    std::uint64_t states = 0;
  };

  const Event& eventOf(StoreNo s) const { return trace_[index_.stores()[s].event]; }

  // The one that was under way, if there is one only, and it ended.
  const Operation* interrupted(EventNo at) const {
    const Operation* found = nullptr;
    for (const Operation& operation : index_.operations().all()) {
      if (operation.begin >= at) break;
      if (operation.depth != 0 || operation.end < at) continue;
      if (found != nullptr) return nullptr;
      found = &operation;
    }
    return found != nullptr && found->end != kNever ? found : nullptr;
  }

  static ChosenVersions chosenBy(const Restriction& restriction) {
    ChosenVersions chosen(restriction.unnamed == Unrestricted::Newest ? UnnamedLines::Newest : UnnamedLines::Least);
    for (const auto& [line, versions] : restriction.allowed) chosen.versions[line] = versions.front();
    return chosen;
  }

  Result<void> judge(SpaceNo s, const CrashSpace& space, const Operation& operation, const UnprotectedPlan& plan) {
    // A thread that is in no operation may store what belongs to none of the two sides.
    if (index_.operationOf(index_.stores()[plan.stores.front()].event) != &operation) return {};
    const ChosenVersions chosen = chosenBy(plan.restriction);
    auto recovery = explorer_.recoveryOf(s, chosen);
    if (!recovery) return tl::unexpected(recovery.error());
    if (context_.judge.verdict(s, *recovery).judgement != Judgement::Fine) return {};
    auto recovered = recoveredIn(s, chosen, *recovery);
    if (!recovered) return tl::unexpected(recovered.error());
    const std::optional<Recovered>& there = **recovered;
    if (!there) return {};
    for (StoreNo store : plan.stores) {
      auto held = otherSide(space, chosen, operation, store, *there);
      if (!held) continue;
      auto [at, isNew] = groups_.try_emplace(siteKey(trace_, eventOf(plan.stores.front())));
      Group& group = at->second;
      if (isNew) {
        group.space = s;
        group.chosen = chosen;
        group.outcome = explorer_.outcome(explorer_.outcomeNo(*recovery));
        group.store = store;
        group.operation = &operation;
        group.after = there->after;
        group.held = std::move(*held);
      }
      ++group.states;
      group.points.insert(s);
      break;
    }
    return {};
  }

  // What the bytes of the store held when the restart said so, if they are not those of the side that it named and the
  // restart used them.
  std::optional<ByteValue> otherSide(const CrashSpace& space, const ChosenVersions& chosen, const Operation& operation,
                                     StoreNo store, const Recovered& recovered) const {
    LineId id = index_.stores()[store].line;
    TrackedNo w = tracked_.find(index_.lineNo(id));
    if (w == TrackedBytes::kNone) return std::nullopt;
    auto holds = [&](EventNo at) { return index_.contentOf(id, at, Version{index_.historyLength(id, at), {}}); };
    const LineBytes before = holds(operation.begin), after = holds(operation.end);
    const LineBytes& expected = recovered.after ? after : before;
    const UncertainLine& line = space.line(w);
    auto version = chosen.versions.find(w);
    LineBytes held = line.versions[version != chosen.versions.end()         ? version->second
                                   : chosen.unnamed == UnnamedLines::Newest ? line.newest
                                                                            : 0]
                         .bytes;
    auto written = recovered.written.find(w);
    auto read = recovered.read.find(w);
    std::uint64_t used = read == recovered.read.end() ? 0 : read->second;
    if (written != recovered.written.end()) {
      used |= written->second.mask;
      for (unsigned b = 0; b < BLACKOUT_LINE; ++b)
        if ((written->second.mask & bit(b)) != 0) held[b] = written->second.bytes[b];
    }
    const std::uint64_t mask = maskOf(index_, store);
    bool wrong = false;
    for (unsigned b = 0; b < BLACKOUT_LINE; ++b)
      wrong |= (mask & used & bit(b)) != 0 && before[b] != after[b] && held[b] != expected[b];
    if (!wrong) return std::nullopt;
    return readOf(held, mask);
  }

  // None: it said nothing of a side.
  Result<const std::optional<Recovered>*> recoveredIn(SpaceNo s, const ChosenVersions& chosen, RecoveryNo recovery) {
    auto [known, isNew] = known_.try_emplace(recovery);
    if (!isNew) return &known->second;
    auto repeated = explorer_.repeat(s, chosen, true);
    if (!repeated) return tl::unexpected(repeated.error());
    if (repeated->divergence || repeated->result.tracePath.empty()) return &known->second;
    auto trace = Trace::open(repeated->result.tracePath);
    if (!trace) return tl::unexpected(trace.error());
    auto index = index_.like(*trace);
    if (!index) return tl::unexpected(index.error());
    const Operations& operations = index->operations();
    for (OperationNo n : idRange<OperationNo>(operations.count())) {
      if (operations[n].name != kRecoveredMark) continue;
      Values side = operations.arguments(n);
      if (side.size() != 1 || side.front().kind != ValueKind::Unsigned) continue;
      known->second = before(*index, operations[n].begin);
      known->second->after = side.front().number != 0;
      for (const Query& q : repeated->result.queries)
        if (q.kind == QueryKind::Bytes) known->second->read[q.line()] |= q.mask;
      break;
    }
    return &known->second;
  }

  Recovered before(const Index& restart, EventNo end) const {
    Recovered out;
    for (StoreNo s : idRange<StoreNo>(restart.stores().size())) {
      if (restart.stores()[s].event >= end) break;
      TrackedNo w = tracked_.find(restart.lineNo(restart.stores()[s].line));
      if (w == TrackedBytes::kNone) continue;
      LineId id = restart.stores()[s].line;
      EventNo next = restart.stores()[s].event + 1;
      const LineBytes now = restart.contentOf(id, next, Version{restart.historyLength(id, next), {}});
      const std::uint64_t mask = maskOf(restart, s);
      Recovered::Written& written = out.written[w];
      written.mask |= mask;
      for (unsigned b = 0; b < BLACKOUT_LINE; ++b)
        if ((mask & bit(b)) != 0) written.bytes[b] = now[b];
    }
    return out;
  }

  ShownFinding tell(const Group& group) const {
    ShownFinding out;
    out.state = explorer_.crashState(group.space, group.chosen);
    out.indexes = {&index_};
    out.outcome = group.outcome;
    Finding& f = out.finding;
    OtherSide claim;
    claim.store = seenStore(index_, group.store, 1, 1);
    claim.operation = std::string(group.operation->name);
    claim.after = group.after;
    claim.held = group.held;
    f = makeFinding(FindingKind::UnprotectedStore, std::move(claim));
    f.places.push_back(placeOfEvent(trace_, "stored here", index_.stores()[group.store].event));
    EventNo at = explorer_.space(group.space).at;
    if (auto last = lastPlaceBefore(trace_, at)) {
      f.places.push_back(placeOfEvent(trace_, "the power fails after this", *last));
      f.places.back().incidental = true;
      f.evidence.push_back(
          ReadAfterCrash{static_cast<PlaceNo>(f.places.size()), at, group.points.size(), group.states});
    }
    f.operation = std::string(group.operation->name);
    const Event& e = eventOf(group.store);
    addExample(f, affected(trace_, e.addr, bytesOf(e), e));
    f.crashState = out.state;
    return out;
  }

  const ShowContext& context_;
  const CrashPlans& plans_;
  Explorer& explorer_;
  const Index& index_;
  const Trace& trace_;
  const TrackedBytes& tracked_;
  std::map<RecoveryNo, std::optional<Recovered>> known_;
  std::map<SiteKey, Group> groups_;
};

}  // namespace

Result<std::vector<ShownFinding>> judgeUnprotectedStores(const ShowContext& context, const CrashPlans& plans) {
  return UnprotectedStores(context, plans).run();
}

}  // namespace blackout
