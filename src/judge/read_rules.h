// From reads that break a rule (bad_reads.h) to findings: one per rule, writer and reader, each shown by one crash
// state that is run again for its places. What is at fault in a failure that was shown is not told a second time.
#pragma once

#include <vector>

#include "detect/detect.h"
#include "judge/bad_reads.h"
#include "judge/cause.h"
#include "judge/finding_builder.h"

namespace blackout {

// `shown`: the causes that have a finding already.
// Guardians count as commit variables only where what the restart says is in doubt: an update in place of what a flag
// guards is quite ordinary.
Result<std::vector<ShownFinding>> judgeReads(const ShowContext& context, AnswerJudge& doubt,
                                             const std::vector<Cause>& shown, const DetectOptions& options);

}  // namespace blackout
