// Guardians, and arrays with their counters, as tables for reading and as JSON.
#pragma once

#include <string>

#include "infer/counting.h"
#include "infer/guardians.h"
#include "infer/likely_commits.h"

namespace blackout {

struct InferText {
  bool reasons = false;  // every guarded field with its reason
  bool commits = false;  // every store of the trace that is likely to commit
};

// `trace` and `commits` may be null: there was none.
std::string renderGuardians(const Guardians& guardians, const Trace* trace, const LikelyCommits* commits,
                            const InferText& how);
std::string renderGuardiansJson(const Guardians& guardians, const CountingProperties& counting, const Trace* trace,
                                const LikelyCommits* commits);

// A line for each array and its counter, with how.reasons every read and every pair that was dropped.
std::string renderCounting(const CountingProperties& counting, const InferText& how);

}  // namespace blackout
