#include "judge/fixes.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "binary/symbolizer.h"
#include "binary/user_frame.h"
#include "events/trace.h"
#include "judge/persist_functions.h"

namespace blackout {

namespace {

// Where in the source an instruction stands, in the program's own code; no line: unknown.
Frame sourceOf(const Site& site) {
  // What an optimiser merged stands in several lines: to change one of them is another matter.
  if (site.sources.size() != 1) return {};
  std::vector<Frame> frames = framesOf(site.sources.front());
  if (frames.empty()) return {};
  const Frame& own = frames[userFrame(frames)];
  return own.line == 0 || inSystemHeader(own) ? Frame() : own;
}

using Position = std::tuple<std::string, std::uint32_t, std::uint32_t>;
Position positionOf(const Frame& f) { return {f.file, f.line, f.column}; }

// One line of the source may be many instructions: it was inlined into several functions, or unrolled. A change of
// the line changes all of them. False: one has no line.
bool widen(const Trace& trace, std::set<SiteKey>& sites) {
  std::set<Position> positions;
  std::vector<std::pair<Position, SiteKey>> all;
  for (SiteNo n = 1; n < trace.siteEnd(); ++n) {
    const Site* site = trace.site(n);
    if (site == nullptr) continue;
    Frame at = sourceOf(*site);
    SiteKey key{true, site->id};
    if (sites.contains(key) && at.line == 0) return false;
    if (at.line == 0) continue;
    if (sites.contains(key)) positions.insert(positionOf(at));
    all.emplace_back(positionOf(at), key);
  }
  for (const auto& [position, key] : all)
    if (positions.contains(position)) sites.insert(key);
  return true;
}

// The bytes that a transaction lacks, added before the instruction that changes them.
std::optional<Fix> loggedFix(const Cause& cause, const Index& recording, Stacks& stacks) {
  const Trace& trace = recording.trace();
  std::set<SiteKey> sites{siteKey(trace, trace[recording.stores()[cause.notAdded->stores.front()].event])};
  if (!widen(trace, sites)) return std::nullopt;
  Fix fix;
  fix.where = Fix::Where::Log;
  fix.states = cause.states;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n))
    if (isStore(trace[n]) && sites.contains(siteKey(trace, trace[n]))) ++fix.ranges;
  LogFunction own = logFunctionOf(trace, stacks);
  fix.logging = own.adds;
  fix.libpmemobj = own.libpmemobj;
  std::set<Position> known;
  for (const SiteKey& key : sites)
    for (SiteNo n = 1; n < trace.siteEnd(); ++n) {
      const Site* site = trace.site(n);
      if (site == nullptr || !(SiteKey{true, site->id} == key)) continue;
      Frame frame = sourceOf(*site);
      if (!known.insert(positionOf(frame)).second) continue;
      fix.stores.push_back({frame, site->type, site->size});
      fix.at.push_back(frame);
    }
  return fix;
}

}  // namespace

std::vector<TriedFix> fixesOf(CureTrial& trial, StateProbe& probe, const Cause& cause,
                              const std::vector<FailingRestart>& failing) {
  constexpr std::size_t kMost = 20000;  // failing states that are asked about
  if (cause.applied == nullptr || cause.applied->level != 1 || cause.applied->cure.event || failing.size() > kMost ||
      cause.cure == CureKind::Add)
    return {};
  auto indexes = probe.indexes(cause.space);
  if (!indexes) return {};
  const Index& index = *indexes->front();
  Cure cure = cause.applied->cure;
  cure.atOperationEnd = false;
  bool known = widen(index.trace(), cure.after);
  std::vector<Cure> candidates;
  cure.put = Cure::Put::After;
  if (known) candidates.push_back(cure);
  cure.put = Cure::Put::Before;
  // What is fenced there need not be named.
  if ((known || !cure.flush) && !cure.before.empty() && widen(index.trace(), cure.before)) candidates.push_back(cure);
  std::vector<TriedFix> fixes;
  for (Cure& candidate : candidates) {
    if (candidate.put == Cure::Put::After) candidate.before.clear();
    TriedFix fix{candidate, 0, 0};
    for (const InsertedEvent& e : insertedBy(candidate, index)) {
      fix.flushes += e.flush ? 1 : 0;
      fix.fences += e.fence ? 1 : 0;
    }
    if (fix.fences == 0) continue;
    auto applied = trial.apply(candidate, cause.space);
    if (!applied) continue;
    bool gone = std::all_of(failing.begin(), failing.end(), [&](const FailingRestart& f) {
      return !trial.leaves(**applied, f.first, f.second).value_or(true);
    });
    if (gone) fixes.push_back(std::move(fix));
  }
  std::stable_sort(fixes.begin(), fixes.end(), [](const TriedFix& a, const TriedFix& b) {
    return std::tuple(a.fences, a.flushes) < std::tuple(b.fences, b.flushes);
  });
  return fixes;
}

std::vector<Fix> toldFixes(const Cause& cause, const Index& recording, Stacks& stacks) {
  const Trace& trace = recording.trace();
  PersistFunctions own = persistFunctionsOf(trace, stacks);
  std::vector<Fix> told;
  for (const TriedFix& tried : cause.fixes) {
    Fix fix;
    fix.where = tried.cure.put == Cure::Put::Before ? Fix::Where::Before
                : !tried.cure.flush                 ? Fix::Where::AfterFlush
                                                    : Fix::Where::AfterStore;
    fix.flushes = tried.flushes;
    fix.fences = tried.fences;
    fix.states = cause.states;
    fix.persists = own.persists;
    fix.fencing = own.fencing;
    std::map<Position, Fix::Store> stores;
    std::map<Position, Frame> at;
    for (SiteNo n = 1; n < trace.siteEnd(); ++n) {
      const Site* site = trace.site(n);
      if (site == nullptr) continue;
      SiteKey key{true, site->id};
      Frame frame = sourceOf(*site);
      if (tried.cure.after.contains(key) && tried.cure.flush)
        stores.try_emplace(positionOf(frame), Fix::Store{frame, site->type, site->size});
      if ((fix.where == Fix::Where::Before ? tried.cure.before : tried.cure.after).contains(key))
        at.try_emplace(positionOf(frame), frame);
    }
    for (auto& [position, store] : stores) fix.stores.push_back(std::move(store));
    for (auto& [position, frame] : at) fix.at.push_back(std::move(frame));
    told.push_back(std::move(fix));
  }
  if (cause.logged)
    if (auto fix = loggedFix(cause, recording, stacks)) told.push_back(std::move(*fix));
  return told;
}

}  // namespace blackout
