#include "judge/examined_state.h"

#include <algorithm>
#include <utility>

namespace blackout {

ExaminedState::ExaminedState(StateProbe& stateProbe, const WholeFailures& wholeFailures,
                             const NamingOptions& namingOptions)
    : probe(stateProbe), explorer(stateProbe.explorer()), whole(wholeFailures), options(namingOptions) {}

Result<void> ExaminedState::become(SpaceNo space, RecoveryNo recovery, const ChosenVersions& chosen) {
  cause.space = space;
  cause.chosen = chosen;
  cause.recovery = recovery;
  cause.key = probe.verdict(space, recovery).key;
  auto traces = probe.indexes(space);
  if (!traces) return tl::unexpected(traces.error());
  indexes = std::move(*traces);
  return look();
}

Result<void> ExaminedState::look() {
  auto lost = probe.lostStores(cause.space, cause.chosen);
  if (!lost) return tl::unexpected(lost.error());
  cause.lost = std::move(*lost);
  detail = explorer.detail(cause.space, cause.recovery);
  read.clear();
  for (const Observation& o : detail.observations)
    if (o.query.kind == QueryKind::Bytes) read[o.query.line()] |= o.query.mask;
  return {};
}

Result<void> ExaminedState::makeSmall() {
  std::size_t tries = 0;
  for (bool changed = true; changed && tries < options.triesPerState;) {
    changed = false;
    std::vector<TrackedNo> lowered;
    for (const auto& [w, version] : cause.chosen.versions) lowered.push_back(w);
    for (TrackedNo w : lowered) {
      auto now = cause.chosen.versions.find(w);
      if (now == cause.chosen.versions.end()) continue;
      std::uint32_t newest = probe.crashSpace(cause.space).line(w).newest;
      auto count = static_cast<std::uint32_t>(probe.crashSpace(cause.space).line(w).versions.size());
      std::vector<std::uint32_t> candidates{newest};
      for (std::uint32_t v = count; v-- > now->second + 1;)
        if (v != newest) candidates.push_back(v);
      for (std::uint32_t v : candidates) {
        if (++tries > options.triesPerState) break;
        ChosenVersions next = cause.chosen;
        if (v == newest)
          next.versions.erase(w);
        else
          next.versions[w] = v;
        auto recovery = probe.recoveryOf(cause.space, next);
        if (!recovery) return tl::unexpected(recovery.error());
        if (!probe.fails(cause.space, *recovery, cause.key)) continue;
        cause.recovery = *recovery;
        cause.chosen = probe.largest(cause.space, *recovery);
        changed = true;
        break;
      }
    }
  }
  return {};
}

std::set<StoreRef> ExaminedState::survivors() const {
  std::set<StoreRef> found;
  const Index& index = *indexes[level() - 1];
  EventNo at = explorer.space(cause.space).at;
  for (const auto& [w, bytes] : read) {
    LineId id = index.lineId(probe.tracked().line(w));
    if (id == kNoLine) continue;
    auto history = index.history(id).first(index.historyLength(id, at));
    std::uint64_t left = bytes;
    for (std::size_t i = history.size(); i-- > 0 && left != 0;) {
      StoreRef ref{level(), history[i]};
      std::uint64_t mask = maskOf(index, ref.store);
      if (std::binary_search(cause.lost.begin(), cause.lost.end(), ref) || (mask & left) == 0) continue;
      found.insert(ref);
      left &= ~mask;
    }
  }
  return found;
}

std::uint64_t ExaminedState::missedBytes(TrackedNo w) {
  const UncertainLine& l = probe.crashSpace(cause.space).line(w);
  const LineBytes& left = l.versions[cause.chosen.versions.at(w)].bytes;
  std::uint64_t bytes = read[w], missed = 0;
  for (unsigned b = 0; b < BLACKOUT_LINE; ++b)
    if ((bytes >> b & 1) != 0 && left[b] != l.versions[l.newest].bytes[b]) missed |= std::uint64_t{1} << b;
  return missed;
}

bool ExaminedState::overlap(const StoreRef& a, const StoreRef& b) const {
  const Index& index = indexOf(a);
  return a.level == b.level && index.stores()[a.store].line == index.stores()[b.store].line &&
         (maskOf(index, a.store) & maskOf(index, b.store)) != 0;
}

Result<bool> ExaminedState::fine(const ChosenVersions& chosen, std::span<const StoreRef> removed,
                                 const std::optional<StoreRef>& with) {
  auto judged = probe.without(cause.space, chosen, removed, with);
  if (!judged) return tl::unexpected(judged.error());
  return *judged == Judgement::Fine;
}

}  // namespace blackout
