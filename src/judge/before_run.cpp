#include "judge/before_run.h"

#include <algorithm>
#include <utility>

#include "events/trace.h"

namespace blackout {

static bool sameBytes(const LineBytes& a, const LineBytes& b, std::uint64_t mask) {
  for (unsigned i = 0; i < BLACKOUT_LINE; ++i)
    if ((mask >> i & 1) != 0 && a[i] != b[i]) return false;
  return true;
}

BeforeRun::BeforeRun(Explorer& explorer, const Baseline& baseline, bool neighbours, Outcome outcome,
                     const OracleRules& rules)
    : explorer_(explorer),
      baseline_(baseline),
      neighbours_(neighbours),
      outcome_(std::move(outcome)),
      refuses_(exitsWithError(outcome_) && judge(outcome_, rules).judgement == Judgement::Failed) {}

bool BeforeRun::likeBefore(SpaceNo space, RecoveryNo recovery) {
  if (!endsLikeBefore(explorer_.outcome(explorer_.outcomeNo(recovery)))) return false;
  RecoveryDetail detail = explorer_.detail(space, recovery);
  std::shared_ptr<const CrashSpace> crash = explorer_.crashSpace(space);
  const Index& index = baseline_.index();
  for (const Observation& o : detail.observations) {
    if (o.query.kind == QueryKind::Op) {
      std::uint32_t state = baseline_.opState(explorer_.space(space).pointNo, o.query.operation());
      if (opReply(state, o.query.mask) != opReply(0, o.query.mask)) return false;
    }
    if (o.query.kind != QueryKind::Bytes) continue;
    LineBytes before{};
    index.files().initialBytes(baseline_.tracked().line(o.query.line()), before);
    const UncertainLine& line = crash->line(o.query.line());
    const LineBytes& seen = line.versions[line.versions.size() == 1 ? 0 : o.version].bytes;
    if (!sameBytes(seen, before, o.query.mask)) return false;
  }
  return true;
}

bool BeforeRun::wholeLikeBefore(SpaceNo space) {
  auto whole = explorer_.recoveryOf(space, ChosenVersions(UnnamedLines::Newest));
  return whole && likeBefore(space, *whole);
}

// Whether nothing was promised since the point before this one.
bool BeforeRun::onItsWay(SpaceNo space, RecoveryNo recovery) const {
  const Index& index = baseline_.index();
  const Trace& trace = index.trace();
  EventNo at = explorer_.space(space).at;
  if (!neighbours_) return false;
  // Behind the last point comes the end: what may still be lost there was not on its way.
  if (space.value() + 1 == baseline_.count()) {
    bool lasting = true;
    for (const Observation& o : explorer_.detail(space, recovery).observations) {
      if (o.query.kind != QueryKind::Bytes) continue;
      LineNo line = baseline_.tracked().line(o.query.line());
      LineBytes before{};
      index.files().initialBytes(line, before);
      LineVersions left = index.versionsOf(line, trace.end());
      lasting &= std::any_of(left.versions.begin(), left.versions.end(),
                             [&](const LineVersion& v) { return sameBytes(v.bytes, before, o.query.mask); });
    }
    if (lasting) return false;
  }
  for (EventNo n = space == 0 ? 0 : explorer_.space(space - 1).at; n < at; n = trace.next(n))
    if (kindOf(trace[n]) == EventKind::OpEnd || kindOf(trace[n]) == EventKind::TxEnd) return false;
  return true;
}

bool BeforeRun::excuses(SpaceNo space, const Outcome& outcome) {
  return refuses_ && explorer_.space(space).level == 1 && endsLikeBefore(outcome) && wholeLikeBefore(space);
}

bool BeforeRun::excuses(SpaceNo space, RecoveryNo recovery) {
  if (!refuses_ || explorer_.space(space).level > 1) return false;
  auto [it, fresh] = known_.try_emplace({space, recovery}, false);
  if (!fresh || !likeBefore(space, recovery)) return it->second;
  bool excused = wholeLikeBefore(space) || (onItsWay(space, recovery) && (space == 0 || wholeLikeBefore(space - 1)));
  return known_[{space, recovery}] = excused;
}

}  // namespace blackout
