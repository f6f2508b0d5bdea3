// Cross-failure races whose harm is only suspected: what a restart says depends on bytes that the crash may have lost,
// in a way that is neither all nor nothing, but no operation is marked by which it could be called wrong.
#pragma once

#include <vector>

#include "judge/answer_judge.h"
#include "judge/cause.h"

namespace blackout {

// One per pair of writer and reader. `first` is the writer, `read` the reader. Pairs whose writer is at fault in a
// failure that was shown (`causes`) are left out: that is the same mistake. `probe` judges by `judge`, which wants what
// is suspected.
Result<std::vector<Cause>> suspectedRaces(StateProbe& probe, AnswerJudge& judge, const std::vector<Cause>& causes,
                                          const CauseOptions& options);

}  // namespace blackout
