#include "infer/likely_commits.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>

#include "events/trace.h"
#include "infer/access_id.h"
#include "infer/publication.h"

namespace blackout {

namespace {

struct Bytes {
  PmAddr begin = 0;
  std::uint64_t size = 0;
};

// What an event reads of PM.
Bytes readBy(const Event& e) {
  switch (kindOf(e)) {
    case EventKind::Load:
    case EventKind::Rmw:
      return {e.addr, bytesOf(e)};
    case EventKind::LoadRange:
      return {e.addr, e.value};
    default:
      return {};
  }
}

// Which guardians' deciding reads, or writes, a site is, as indices. Sites are compared once each.
class GuardianSites {
 public:
  GuardianSites(const std::vector<GuardianAccesses>& guardians,
                std::vector<std::uint64_t> GuardianAccesses::* accesses) {
    for (std::size_t g = 0; g < guardians.size(); ++g)
      for (std::uint64_t access : guardians[g].*accesses) {
        std::vector<std::size_t>& all = byAccess_[access];
        if (all.empty() || all.back() != g) all.push_back(g);
      }
  }

  const std::vector<std::size_t>& of(const Site* site) {
    auto [at, fresh] = bySite_.try_emplace(site);
    if (!fresh || site == nullptr) return at->second;
    for (const Source& source : site->sources)
      if (auto found = byAccess_.find(accessId(source)); found != byAccess_.end())
        at->second.insert(at->second.end(), found->second.begin(), found->second.end());
    std::sort(at->second.begin(), at->second.end());
    at->second.erase(std::unique(at->second.begin(), at->second.end()), at->second.end());
    return at->second;
  }

 private:
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> byAccess_;
  std::unordered_map<const Site*, std::vector<std::size_t>> bySite_;
};

std::vector<GuardianInstance> instancesIn(const Trace& trace, const std::vector<GuardianAccesses>& guardians) {
  struct Found {
    PmAddr begin;
    std::uint64_t size;
    std::size_t guardian;
    bool merged = false;  // the optimiser made one load of several: it read one of their fields
    bool operator==(const Found& o) const { return begin == o.begin && size == o.size && guardian == o.guardian; }
  };
  GuardianSites reads(guardians, &GuardianAccesses::reads);
  std::vector<Found> found;
  std::vector<bool> seen(guardians.size());
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Bytes read = readBy(trace[n]);
    if (read.size == 0) continue;
    const std::vector<std::size_t>& fields = reads.of(trace.siteOf(trace[n]));
    for (std::size_t g : fields) {
      found.push_back({read.begin, read.size, g, fields.size() > 1});
      seen[g] = true;
    }
  }
  // Many a guardian is only read by a restart, which this trace need not have: the writes of the field tell as well,
  // and where there are none either, those of whole structs.
  GuardianSites writes(guardians, &GuardianAccesses::writes);
  for (bool whole : {false, true}) {
    const std::vector<bool> known = seen;
    for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
      const Event& e = trace[n];
      if (!isStore(e)) continue;
      const Site* site = trace.siteOf(e);
      for (std::size_t g : writes.of(site)) {
        if (known[g] || (!whole && site->type != guardians[g].field)) continue;
        found.push_back({e.addr, bytesOf(e), g, false});
        seen[g] = true;
      }
    }
  }
  // What a merged load read is told by the stores to the same place.
  std::map<PmAddr, std::vector<std::size_t>> stored;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n))
    if (isStore(trace[n]))
      if (const std::vector<std::size_t>& own = writes.of(trace.siteOf(trace[n])); own.size() == 1)
        stored[trace[n].addr].push_back(own[0]);
  std::erase_if(found, [&](const Found& f) {
    auto at = f.merged ? stored.find(f.begin) : stored.end();
    return at != stored.end() && std::find(at->second.begin(), at->second.end(), f.guardian) == at->second.end();
  });
  std::sort(found.begin(), found.end(), [&](const Found& a, const Found& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    if (a.guardian != b.guardian) return guardians[a.guardian].field < guardians[b.guardian].field;
    return a.size < b.size;
  });
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::vector<GuardianInstance> instances;
  for (const Found& f : found) instances.push_back({f.begin, f.size, guardians[f.guardian].field});
  return instances;
}

// Finds the instance that a store hits: of several the smallest, which says most, then the first field.
class InstanceMap {
 public:
  explicit InstanceMap(const std::vector<GuardianInstance>& instances) {
    std::vector<const GuardianInstance*> order;
    for (const GuardianInstance& i : instances) order.push_back(&i);
    std::stable_sort(order.begin(), order.end(),
                     [](const GuardianInstance* a, const GuardianInstance* b) { return isBetter(b, a); });
    // A better one covers what it overlaps.
    for (const GuardianInstance* i : order) cover(i);
  }

  const GuardianInstance* at(PmAddr begin, std::uint64_t size) const {
    const GuardianInstance* best = nullptr;
    auto range = ranges_.upper_bound(begin);
    if (range != ranges_.begin()) --range;
    for (; range != ranges_.end() && range->first < begin + size; ++range)
      if (range->second.end > begin && (best == nullptr || isBetter(range->second.instance, best)))
        best = range->second.instance;
    return best;
  }

 private:
  struct Range {
    PmAddr end = 0;
    const GuardianInstance* instance = nullptr;
  };

  static bool isBetter(const GuardianInstance* a, const GuardianInstance* b) {
    return a->size != b->size ? a->size < b->size : a->guardian < b->guardian;
  }

  void cover(const GuardianInstance* instance) {
    const PmAddr begin = instance->begin, end = instance->begin + instance->size;
    auto at = ranges_.lower_bound(begin);
    if (at != ranges_.begin() && std::prev(at)->second.end > begin) --at;
    while (at != ranges_.end() && at->first < end) {
      const auto [old, range] = *at;
      at = ranges_.erase(at);
      if (old < begin) ranges_[old] = {begin, range.instance};
      if (range.end > end) ranges_[end] = range;
    }
    ranges_[begin] = {end, instance};
  }

  std::map<PmAddr, Range> ranges_;  // by begin; apart from each other
};

}  // namespace

std::vector<GuardianAccesses> accessesOf(const Guardians& guardians) {
  std::vector<GuardianAccesses> all;
  for (const Guardian& g : guardians.guardians) {
    GuardianAccesses& accesses = all.emplace_back();
    accesses.field = g.field;
    for (const Source& read : g.reads) accesses.reads.push_back(accessId(read));
    for (const Source& write : g.writes) accesses.writes.push_back(accessId(write));
    if (!g.guarded.empty() && !g.guarded[0].guards.empty())
      accesses.why = reasonOf(g, g.guarded[0], g.guarded[0].guards[0]);
  }
  return all;
}

LikelyCommits likelyCommits(const Trace& trace, const std::vector<GuardianAccesses>& guardians,
                            AtomicStores atomicStores) {
  LikelyCommits result;
  result.instances = instancesIn(trace, guardians);
  const InstanceMap instances(result.instances);
  GuardianSites writes(guardians, &GuardianAccesses::writes);
  const std::vector<EventNo> initialising = initialisingStores(trace);
  auto next = initialising.begin();
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (groupOf(e) == EventGroup::Load) ++result.loads;
    if (!isStore(e)) continue;
    ++result.stores;
    const GuardianInstance* instance = instances.at(e.addr, bytesOf(e));
    const bool locked = kindOf(e) == EventKind::Rmw;
    const Site* site = trace.siteOf(e);
    const bool atomic = atomicStores == AtomicStores::Commit && !locked && site != nullptr && site->atomic;
    const bool candidate = instance != nullptr || locked || atomic;
    if (candidate) result.toGuardians.push_back(n);
    if (next != initialising.end() && *next == n) {
      ++next;
      continue;
    }
    result.published.push_back(n);
    if (!candidate) continue;
    FieldKey field = instance == nullptr ? FieldKey() : instance->guardian;
    // The store itself knows best which field it sets.
    const std::vector<std::size_t>& own = writes.of(site);
    if (instance != nullptr && own.size() == 1) field = guardians[own[0]].field;
    result.commits.push_back({n, field, locked, atomic});
  }
  return result;
}

std::string reasonOf(const LikelyCommit& commit, const std::vector<GuardianAccesses>& guardians) {
  if (commit.guardian.empty()) return commit.locked ? "is a locked instruction" : "is an atomic store";
  std::string reason = "sets " + commit.guardian;
  if (commit.locked) reason += " by a locked instruction";
  auto guardian = std::lower_bound(guardians.begin(), guardians.end(), commit.guardian,
                                   [](const GuardianAccesses& g, const FieldKey& field) { return g.field < field; });
  if (guardian == guardians.end() || guardian->field != commit.guardian || guardian->why.empty()) return reason;
  return reason + ": " + guardian->why;
}

}  // namespace blackout
