// The findings of a check for crashes as they come: what is one mistake told again is joined, what comes of an
// interrupted creation of a pool is one finding of it, and each that is kept gets a file that replays it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "binary/stacks.h"
#include "detect/trusted.h"
#include "explore/explorer.h"
#include "judge/crash_check.h"
#include "judge/finding_builder.h"
#include "judge/oracle.h"
#include "judge/pool_creation.h"
#include "judge/state_judge.h"

namespace blackout {

class KeptFindings {
 public:
  // All must outlive it; findings, and what there is to say of them, go into `out`. `input`: standard input of
  // restarts.
  KeptFindings(const Index& index, const CrashOptions& options, const OracleRules& rules, std::string input,
               Stacks& stacks, CrashCheck& out);

  // Of pools, in the recording. Before anything is added.
  Result<void> findCreations();
  Result<void> add(ShownFinding shown);
  // One finding for each pool whose creation was interrupted. After all others.
  Result<void> tellCreations(const Explorer& explorer, StateJudge& judge);

  // PMDK's libraries, if the program loaded any; else null.
  const Trusted* pmdk() const { return pmdk_ ? &*pmdk_ : nullptr; }

 private:
  // What has no place of its own to be told by is one finding, whatever ways restarts take to fail by it.
  bool joined(const Finding& next);
  // The creation of a pool that the finding's crash interrupts; none: creations_.size().
  std::size_t creationOf(const Finding& f) const;
  Result<void> keep(ShownFinding shown);

  const Index& index_;
  const CrashOptions& o_;
  const OracleRules& rules_;
  std::string input_;
  Stacks& stacks_;
  CrashCheck& out_;
  std::optional<Trusted> pmdk_;
  std::vector<PoolCreation> creations_;
  std::vector<std::vector<ShownFinding>> interrupted_;  // findings that come of each
};

}  // namespace blackout
