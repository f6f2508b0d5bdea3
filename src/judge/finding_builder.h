// From a cause to a finding that a person understands: the state is run once more, alone and traced, so that what
// the recovery read and where it failed have places; then verdict, places and evidence are put into words.
#pragma once

#include "judge/bad_reads.h"
#include "judge/cause_naming.h"
#include "judge/intact.h"
#include "binary/stacks.h"

namespace blackout {

// A finding with what a replay needs.
struct ShownFinding {
  Finding finding;
  CrashState state;
  std::vector<const Index*> indexes;  // of the state's levels
  Outcome outcome;
};

struct ShowContext {
  Explorer& explorer;
  const Baseline& baseline;
  CrashTraces& traces;
  StateJudge& judge;
  ExpectedAnswers& expected;
  RacingReads& reads;
  BadReads& bad;
  Stacks& stacks;
};

Result<ShownFinding> showCause(const ShowContext& context, const Cause& cause);

// The same for what is only suspected: a race, with its writer, the crash and its reader.
Result<ShownFinding> showRace(const ShowContext& context, const Cause& cause);

// The program fails on what it left when it ended by itself.
ShownFinding showProgramBug(const IntactRestart& intact, const Index& recording, const OracleRules& rules);

}  // namespace blackout
