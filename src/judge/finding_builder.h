// From a cause to a finding: the state is run once more, alone and traced, so that what the recovery read and where it
// failed have places; then what the cause knows is put down as data. Words are made of it by report/sentences.h.
#pragma once

#include "binary/stacks.h"
#include "judge/bad_reads.h"
#include "judge/cause_naming.h"
#include "judge/intact.h"
#include "judge/order_judge.h"
#include "run/patience.h"

namespace blackout {

// A finding with what a replay needs.
struct ShownFinding {
  Finding finding;
  CrashState state;
  std::vector<const Index*> indexes;  // of the state's levels
  std::vector<ReplacedWord> replaced;
  Outcome outcome;
};

struct ShowContext {
  Explorer& explorer;
  const Baseline& baseline;
  Runner& runner;  // the explorer's own
  CrashTraces& traces;
  StateJudge& judge;
  ExpectedAnswers& expected;
  RacingReads& reads;
  BadReads& bad;
  Stacks& stacks;
  const Patience& patience;
  OrderJudge* orders = nullptr;  // null: there is no specification
};

// The bytes of a line from the first to the last of the mask.
ByteValue readOf(const LineBytes& line, std::uint64_t mask);
// A restart's read of the bytes of `mask` in a line, which holds `seen` then. `crash`: the first one, in the recording.
SeenRead seenRead(const ByteNames& names, LineNo line, std::uint64_t mask, EventNo crash, const LineBytes& seen);

Result<ShownFinding> showCause(const ShowContext& context, const Cause& cause);

// The same for what is only suspected: a race, with its writer, the crash and its reader.
Result<ShownFinding> showRace(const ShowContext& context, const Cause& cause);

// The program fails on what it left when it ended by itself.
ShownFinding showProgramBug(const IntactRestart& intact, const Index& recording, const OracleRules& rules);

}  // namespace blackout
