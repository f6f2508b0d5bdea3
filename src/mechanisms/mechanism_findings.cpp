#include "mechanisms/mechanism_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "detect/by_site.h"
#include "events/trace.h"
#include "findings/numbers.h"

namespace blackout {

namespace {

// "(1) in-place store"
std::string labelOf(MechanismPhase phase) {
  switch (phase) {
    case MechanismPhase::Allocate:
      return "space is allocated here";
    case MechanismPhase::Log:
      return "logged here";
    case MechanismPhase::Commit:
      return "made to count here";
    case MechanismPhase::InPlace:
      return "stored in place here";
    case MechanismPhase::Reclaim:
      return "the log is emptied here";
    case MechanismPhase::Record:
      return "the commit record is written here";
    case MechanismPhase::Append:
      return "appended here";
    case MechanismPhase::Publish:
      return "the tail moves here";
    case MechanismPhase::Primary:
      return "the primary is stored here";
    case MechanismPhase::Secondary:
      return "another copy is stored here";
    case MechanismPhase::Build:
      return "stored here";
    case MechanismPhase::Swap:
      return "published here";
    case MechanismPhase::None:
    case MechanismPhase::Initialise:
      break;
  }
  return "stored here";
}

}  // namespace

std::vector<Finding> mechanismFindings(const Index& index, const Description& description, const Phases& phases) {
  const Trace& trace = index.trace();
  using Key = std::tuple<MechanismNo, MechanismRule, MechanismPhase, MechanismPhase, SiteKey, SiteKey>;
  std::map<Key, Finding> found;
  std::map<Key, std::set<TransactionNo>> transactions;
  for (const Violation& v : phases.violations) {
    auto keyOf = [&](StoreNo s) { return s == kNoStore ? SiteKey() : siteKey(trace, trace[index.stores()[s].event]); };
    Key key{v.mechanism, v.rule, v.firstPhase, v.secondPhase, keyOf(v.first), keyOf(v.second)};
    auto [it, isNew] = found.try_emplace(key);
    Finding& f = it->second;
    EventNo first = index.stores()[v.first].event;
    if (isNew) {
      const MechanismDescription& m = description.mechanisms[v.mechanism.value()];
      BrokenMechanism claim;
      claim.mechanism = m.name;
      claim.rule = v.rule;
      claim.firstPhase = v.firstPhase;
      claim.secondPhase = v.secondPhase;
      claim.first = seenStore(index, v.first, 1, 1);
      if (v.second != kNoStore) claim.second = seenStore(index, v.second, 1, 2);
      f = makeFinding(FindingKind::Mechanism, std::move(claim));
      f.places.push_back(placeOfEvent(trace, labelOf(v.firstPhase), first));
      if (v.second != kNoStore)
        f.places.push_back(placeOfEvent(trace, labelOf(v.secondPhase), index.stores()[v.second].event));
      // An undo entry that nobody needs costs time and harms nothing.
      if (v.rule == MechanismRule::NeverInPlace && m.kind == MechanismKind::Undo) {
        f.severity = Severity::Performance;
        f.bugClass = BugClass::Performance;
      }
      if (const Operation* op = index.operationOf(first)) f.operation = std::string(op->name);
    }
    ++f.counts.times;
    if (v.transaction != kNoTransaction) transactions[key].insert(v.transaction);
    addExample(f, affected(trace, trace[first].addr, bytesOf(trace[first]), trace[first]));
  }
  std::vector<Finding> out;
  for (auto& [key, f] : found) {
    auto claim = std::get<BrokenMechanism>(f.claim);
    claim.transactions = transactions[key].size();
    f.claim = std::move(claim);
    out.push_back(std::move(f));
  }
  return out;
}

namespace {

// (stores, points): at how many points so many of the stores are in flight.
std::vector<std::pair<std::uint64_t, std::uint64_t>> inFlight(const Index& index, std::span<const EventNo> points,
                                                              const std::function<bool(StoreNo)>& counts) {
  std::vector<EventNo> begins, ends;
  for (StoreNo s : idRange<StoreNo>(index.stores().size())) {
    if (!counts(s)) continue;
    begins.push_back(index.stores()[s].event);
    ends.push_back(index.stores()[s].guaranteedAt);
  }
  std::sort(ends.begin(), ends.end());
  std::map<std::uint64_t, std::uint64_t> out;
  std::size_t begun = 0, ended = 0;
  for (EventNo p : points) {
    while (begun < begins.size() && begins[begun] < p) ++begun;
    while (ended < ends.size() && ends[ended] < p) ++ended;
    ++out[begun - std::min(begun, ended)];
  }
  return {out.begin(), out.end()};
}

}  // namespace

CheckedMechanisms mechanismSummary(const Index& index, const Description& description, const Phases& phases,
                                   std::span<const EventNo> points) {
  CheckedMechanisms out;
  for (const MechanismDescription& m : description.mechanisms) {
    std::size_t number = out.mechanisms.size();
    out.mechanisms.push_back({m.name, std::string(nameOf(m.kind)), phases.instances[number], 0, 0});
  }
  for (const MechanismTransaction& t : phases.transactions) {
    MechanismSummary& m = out.mechanisms[t.mechanism.value()];
    ++m.transactions;
    m.broken += t.broken ? 1 : 0;
  }
  out.stores = index.stores().size();
  for (StoreNo s : idRange<StoreNo>(out.stores)) out.unprotected += phases.isProtected(s) ? 0 : 1;
  out.untyped = phases.typed.unknown;
  out.inFlight = inFlight(index, points, [](StoreNo) { return true; });
  out.inFlightUnprotected = inFlight(index, points, [&](StoreNo s) { return !phases.isProtected(s); });
  return out;
}

std::vector<std::string> mechanismNotes(const Description& description, const Phases& phases) {
  std::vector<std::string> out;
  std::vector<std::uint64_t> used(description.mechanisms.size());
  for (const MechanismTransaction& t : phases.transactions) ++used[t.mechanism.value()];
  for (std::size_t i = 0; i < description.mechanisms.size(); ++i) {
    if (used[i] != 0) continue;
    const std::string& name = description.mechanisms[i].name;
    out.push_back(
        phases.instances[i] == 0
            ? fmt::format("[{}] fits nothing in this run: no store to such a struct was seen, so nothing was "
                          "checked by it, and nothing is protected.",
                          name)
            : fmt::format("[{}] was never used in this run: its struct was stored to, and no transaction of it "
                          "was seen; if there were any, the description is wrong.",
                          name));
  }
  return out;
}

}  // namespace blackout
