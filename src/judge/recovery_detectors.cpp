#include "judge/recovery_detectors.h"

#include <algorithm>

#include "judge/races.h"
#include "judge/read_rules.h"
#include "judge/stale_pointers.h"
#include "judge/unprotected_stores.h"

namespace blackout {

FoundBy foundBy(FindingKind kind) {
  switch (kind) {
    case FindingKind::ProgramBug:
      return FoundBy::IntactRestart;
    case FindingKind::MissingFlush:
    case FindingKind::MissingFence:
    case FindingKind::WrongOrder:
    case FindingKind::NotAtomic:
    case FindingKind::RecoveryFails:
    case FindingKind::NotLinearizable:
    case FindingKind::VisibleNotDurable:
      return FoundBy::FailingRestarts;
    // Where a restart fails by itself it is the cause of that.
    case FindingKind::StalePointer:
      return FoundBy::FollowedPointers;
    case FindingKind::CrossFailureRace:
      return FoundBy::RacingRestarts;
    case FindingKind::UncommittedRead:
    case FindingKind::StaleRead:
    case FindingKind::UninitializedRead:
      return FoundBy::ReadsOfRestarts;
    case FindingKind::UnprotectedStore:
      return FoundBy::CrashPlans;
    case FindingKind::Mechanism:
      return FoundBy::Description;
    case FindingKind::UnloggedStore:
    case FindingKind::OpenTransaction:
    case FindingKind::NeverPersisted:
    case FindingKind::StoreOutside:
    case FindingKind::OverwrittenUnpersisted:
    case FindingKind::CleanFlush:
    case FindingKind::RepeatedFlush:
    case FindingKind::IdleFence:
    case FindingKind::LoggedTwice:
    case FindingKind::LoggedUnused:
    case FindingKind::FlushOutside:
      return FoundBy::Trace;
  }
  __builtin_unreachable();
}

namespace {

Result<std::vector<ShownFinding>> show(JudgedExploration& judged, Result<std::vector<Cause>> causes) {
  if (!causes) return tl::unexpected(causes.error());
  std::vector<ShownFinding> out;
  for (Cause& cause : *causes) {
    auto shown = showCause(judged.context, cause);
    if (!shown) return tl::unexpected(shown.error());
    out.push_back(std::move(*shown));
    judged.shown.push_back(std::move(cause));
  }
  return out;
}

Result<std::vector<ShownFinding>> failingRestarts(JudgedExploration& judged) {
  const ShowContext& c = judged.context;
  StateProbe probe(c.explorer, c.baseline, c.runner, c.traces, c.judge);
  return show(judged, findCauses(probe, judged.causes));
}

Result<std::vector<ShownFinding>> followedPointers(JudgedExploration& judged) {
  const ShowContext& c = judged.context;
  StateProbe probe(c.explorer, c.baseline, c.runner, c.traces, c.judge);
  return show(judged, followedPointers(probe, c.baseline.index(), judged.shown, c.patience));
}

Result<std::vector<ShownFinding>> racingRestarts(JudgedExploration& judged) {
  const ShowContext& c = judged.context;
  StateProbe probe(c.explorer, c.baseline, c.runner, c.traces, judged.suspicion);
  auto races = suspectedRaces(probe, judged.suspicion, judged.shown, judged.causes);
  if (!races) return tl::unexpected(races.error());
  ShowContext suspected{c.explorer, c.baseline, c.runner, c.traces,   judged.suspicion, c.expected,
                        c.reads,    c.bad,      c.stacks, c.patience, c.orders};
  std::vector<ShownFinding> out;
  for (const Cause& race : *races) {
    auto shown = showRace(suspected, race);
    if (!shown) return tl::unexpected(shown.error());
    out.push_back(std::move(*shown));
  }
  return out;
}

Result<std::vector<ShownFinding>> readsOfRestarts(JudgedExploration& judged) {
  return judgeReads(judged.context, judged.suspicion, judged.shown, judged.detect);
}

Result<std::vector<ShownFinding>> unprotectedStores(JudgedExploration& judged) {
  if (judged.plans == nullptr) return std::vector<ShownFinding>();
  return judgeUnprotectedStores(judged.context, *judged.plans);
}

constexpr RecoveryDetector kDetectors[] = {
    {FoundBy::FailingRestarts, false, failingRestarts}, {FoundBy::FollowedPointers, true, followedPointers},
    {FoundBy::RacingRestarts, false, racingRestarts},   {FoundBy::ReadsOfRestarts, true, readsOfRestarts},
    {FoundBy::CrashPlans, true, unprotectedStores},
};

bool anyWanted(FoundBy id, const DetectOptions& options) {
  const auto& kinds = findingKinds();
  return std::any_of(kinds.begin(), kinds.end(),
                     [&](const FindingKindRow& row) { return foundBy(row.kind) == id && wants(options, row.kind); });
}

}  // namespace

std::span<const RecoveryDetector> recoveryDetectors() { return kDetectors; }

Result<std::vector<ShownFinding>> judgeRecoveries(JudgedExploration& judged) {
  std::vector<ShownFinding> all;
  for (const RecoveryDetector& detector : kDetectors) {
    if ((detector.needsTime && !judged.inTime) || !anyWanted(detector.id, judged.detect)) continue;
    auto found = detector.run(judged);
    if (!found && judged.context.patience.over()) break;
    if (!found) return found;
    std::move(found->begin(), found->end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace blackout
