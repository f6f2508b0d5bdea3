// The detectors that judge restarts, as one table like that of detect/: each turns an exploration into findings that a
// crash state shows. Which detector finds a kind is said here for every kind there is, without a default, so that a new
// one can't be forgotten.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "detect/detect.h"
#include "judge/answer_judge.h"
#include "judge/cause.h"
#include "judge/finding_builder.h"

namespace blackout {

class CrashPlans;

enum class FoundBy : std::uint8_t {
  Trace,            // a detector of detect/
  Description,      // the rules of the mechanisms that a description names (mechanisms/)
  IntactRestart,    // the restart on what the program left by itself (crash_check.h)
  FailingRestarts,  // and those below: detectors of this table
  FollowedPointers,
  RacingRestarts,
  ReadsOfRestarts,
  CrashPlans,
};
FoundBy foundBy(FindingKind kind);

// What a detector may ask. Everything outlives it.
struct JudgedExploration {
  ShowContext context;     // `judge`: failures, and wrong answers where these are wanted
  AnswerJudge& suspicion;  // wants what is wrong by a rule, though no restart shows it
  CauseOptions causes;
  const DetectOptions& detect;
  const CrashPlans* plans = nullptr;  // null: another strategy
  bool inTime = true;                 // no wall-clock bound ended the exploration: there is time for further runs
  // Causes that have a finding: what comes later in the table does not tell them again.
  std::vector<Cause> shown;
};

struct RecoveryDetector {
  FoundBy id{};
  bool needsTime = false;  // it makes runs of its own beyond those that causes need
  Result<std::vector<ShownFinding>> (*run)(JudgedExploration& judged) = nullptr;
};

// In the order in which they run.
std::span<const RecoveryDetector> recoveryDetectors();

// The findings of all that are wanted, in the order of the table.
Result<std::vector<ShownFinding>> judgeRecoveries(JudgedExploration& judged);

}  // namespace blackout
