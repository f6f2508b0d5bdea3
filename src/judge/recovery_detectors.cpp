#include "judge/recovery_detectors.h"

#include <algorithm>

#include "judge/races.h"
#include "judge/read_rules.h"

namespace blackout {

FoundBy foundBy(FindingKind kind) {
  switch (kind) {
    case FindingKind::ProgramBug:
      return FoundBy::IntactRestart;
    case FindingKind::MissingFlush:
    case FindingKind::MissingFence:
    case FindingKind::WrongOrder:
    case FindingKind::NotAtomic:
    case FindingKind::StalePointer:
    case FindingKind::RecoveryFails:
      return FoundBy::FailingRestarts;
    case FindingKind::CrossFailureRace:
      return FoundBy::RacingRestarts;
    case FindingKind::UncommittedRead:
    case FindingKind::StaleRead:
    case FindingKind::UninitializedRead:
      return FoundBy::ReadsOfRestarts;
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

Result<std::vector<ShownFinding>> failingRestarts(JudgedExploration& judged) {
  const ShowContext& c = judged.context;
  StateProbe probe(c.explorer, c.baseline, judged.runner, c.traces, c.judge);
  auto causes = findCauses(probe, judged.causes);
  if (!causes) return tl::unexpected(causes.error());
  std::vector<ShownFinding> out;
  for (const Cause& cause : *causes) {
    auto shown = showCause(c, cause);
    if (!shown) return tl::unexpected(shown.error());
    out.push_back(std::move(*shown));
  }
  judged.shown = std::move(*causes);
  return out;
}

Result<std::vector<ShownFinding>> racingRestarts(JudgedExploration& judged) {
  const ShowContext& c = judged.context;
  StateProbe probe(c.explorer, c.baseline, judged.runner, c.traces, judged.suspicion);
  auto races = suspectedRaces(probe, judged.suspicion, judged.shown, judged.causes);
  if (!races) return tl::unexpected(races.error());
  ShowContext suspected{c.explorer, c.baseline, c.traces, judged.suspicion, c.expected,
                        c.reads,    c.bad,      c.stacks, c.patience};
  std::vector<ShownFinding> out;
  for (const Cause& race : *races) {
    auto shown = showRace(suspected, race);
    if (!shown) return tl::unexpected(shown.error());
    out.push_back(std::move(*shown));
  }
  return out;
}

Result<std::vector<ShownFinding>> readsOfRestarts(JudgedExploration& judged) {
  return judgeReads(judged.context, judged.suspicion, judged.runner, judged.shown, judged.detect);
}

constexpr RecoveryDetector kDetectors[] = {
    {FoundBy::FailingRestarts, false, failingRestarts},
    {FoundBy::RacingRestarts, true, racingRestarts},
    {FoundBy::ReadsOfRestarts, true, readsOfRestarts},
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
