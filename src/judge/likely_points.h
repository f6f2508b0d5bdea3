// Which stores of a recorded run are likely to be linearization points (Durinn, section 5.2): what makes an operation
// visible, so that the crash states around it are worth trying first. A guess that is wrong costs tests and nothing
// else: all other points follow.
//
// By the guardians that the program's code has and atomic instructions (infer/likely_commits.h). Where its code is not
// known, every store counts that is not to an object which is published only later.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explore/strategies.h"
#include "infer/likely_commits.h"
#include "model/index.h"

namespace blackout {

struct LikelyPoint {
  EventNo store = 0;
  std::string reason;     // "sets Bucket.valid: ..."
  bool inferred = false;  // false: only the program says so
  bool marked = false;    // by blackout_lp()
  bool operator==(const LikelyPoint&) const = default;
};

struct LikelyPoints {
  std::vector<LikelyPoint> points;  // in order of the trace
  bool guardians = false;           // the program's code was analysed
  // All stores; those to guardians or by atomic instructions, and those to what is published.
  std::vector<EventNo> stores, byGuardians, byPublication;
  std::uint64_t inferred = 0, marked = 0;
  // Marked ones that are not inferred.
  std::uint64_t missed = 0;

  std::vector<EventNo> of(LikelySet set) const;
};

// `guardians`: of the program's code; empty: it is not known.
LikelyPoints likelyPoints(const Trace& trace, const std::vector<GuardianAccesses>& guardians);

// The tests around stores at these points of the plug, ascending: after each store, and after its operation has ended.
std::vector<AdversarialTest> adversarialTests(const std::vector<EventNo>& stores, const Index& index,
                                              IdSpan<PointNo, const EventNo> points);

}  // namespace blackout
