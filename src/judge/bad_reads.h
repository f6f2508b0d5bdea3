// Reads of a restart that are wrong by a rule, whatever comes of them: of data that a commit variable does not vouch
// for (XFDetector, equation 3) and of memory that was allocated and never written. All values are those of one crash
// state: which store the bytes are from, and which commits had survived.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "findings/finding.h"
#include "judge/answer_judge.h"
#include "judge/commit_variables.h"

namespace blackout {

struct BadRead {
  FindingKind kind{};  // UncommittedRead, StaleRead or UninitializedRead
  SpaceNo space = 0;
  RecoveryNo recovery = 0;
  std::size_t read = 0;      // the observation
  std::uint64_t reader = 0;  // its site
  // The write in question; for memory that was never written none.
  StoreNo writer = kNoStore;
  // The last two writes of the commit variable that had survived; none: there were fewer.
  StoreNo commit = kNoStore;
  StoreNo commitBefore = kNoStore;
  std::optional<EventNo> allocated;  // for memory that was never written
  std::string because;               // why the commit variable counts, if it is a guardian and not registered
  bool inferred() const { return !because.empty(); }
};

class BadReads {
 public:
  // All must outlive it.
  BadReads(Explorer& explorer, const Baseline& baseline, std::vector<CommitVariable> variables, RacingReads& reads);

  // Whether there is anything that a read could break without guardians being asked.
  bool anyRule() const { return !variables_.empty() || !undefined_.empty(); }

  // Whether the store sets a commit variable: one that is registered, or a guardian that is a flag.
  bool isCommit(StoreNo store);

  // Those of one recovery, in the order of its reads. `inferred`: guardians count as commit variables, if what they
  // guard was written after them or before the last but one time that they were set.
  std::vector<BadRead> of(SpaceNo space, RecoveryNo recovery, bool inferred);

 private:
  struct Undefined {  // bytes that were allocated or given up
    EventNo at;
    std::uint64_t mask;
    bool undefined;  // false: from here on it counts again
  };
  // The two last writes of some bytes of a line that the recovery's version of it holds, the last one first.
  std::vector<StoreNo> writesOf(SpaceNo space, const RecoveryDetail& detail, LineNo line, std::uint64_t mask,
                                std::size_t most) const;
  // Whether `a` is sure to survive if `b` does.
  bool before(StoreNo a, StoreNo b) const;
  // The two last writes of a variable, wherever it lies.
  std::vector<StoreNo> commitsOf(SpaceNo space, const RecoveryDetail& detail, const PmRange& variable) const;
  std::optional<BadRead> judge(SpaceNo space, const RecoveryDetail& detail, const Query& q, const PmRange& variable,
                               std::uint64_t covered, bool strict) const;
  bool alternates(const PmRange& variable) const;
  // Whether restarts make the read after a test of the field has found some values (of a flag: one), and not after
  // others.
  bool dependsOn(std::uint64_t site, const FieldKey& field, bool flag);
  void findDependent();
  std::uint64_t valueOf(SpaceNo space, const RecoveryDetail& detail, const Query& q) const;

  Explorer& explorer_;
  const Baseline& baseline_;
  const Index& index_;
  std::vector<CommitVariable> variables_;
  RacingReads& reads_;
  std::map<LineNo, std::vector<Undefined>> undefined_;
  // By site of a read and field of a test before it: the values that the test had found.
  std::optional<std::map<std::pair<std::uint64_t, FieldKey>, std::set<std::uint64_t>>> found_;
  std::map<FieldKey, std::set<std::uint64_t>> values_;  // that tests of the field found in any restart
};

}  // namespace blackout
