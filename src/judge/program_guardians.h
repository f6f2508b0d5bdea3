// The guardians of the program under test, by the instructions that a restart names: which reads are tests that the
// program makes before it trusts something, and what is read because of them. The analysis runs when it is first asked
// for, which most checks never do, and once for all recordings of one check.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "infer/analysis.h"
#include "infer/guardians.h"
#include "infer/likely_commits.h"
#include "run/patience.h"

namespace blackout {

class ProgramGuardians {
 public:
  // What the analysis says, by Site::id.
  struct Table {
    std::map<std::uint64_t, FieldKey> tests;
    std::map<std::uint64_t, std::map<FieldKey, std::string>> guarded;  // by the read: the fields, and why
    std::set<FieldKey> commitVariables;
  };
  // All of it, of some programs.
  struct Analysis {
    bool known = false;
    std::string leftOut;
    Table table;
    std::vector<GuardianAccesses> accesses;  // for likelyCommits
  };
  // Those that came to an end, by their programs. They depend on nothing that was recorded.
  using Made = std::map<std::vector<std::string>, std::shared_ptr<const Analysis>>;
  // Program files: the program and the libraries with instrumented code. Without `made` the analysis is its own.
  explicit ProgramGuardians(std::vector<std::string> programs, Patience patience = {}, InferOptions infer = {},
                            std::shared_ptr<Made> made = nullptr)
      : programs_(std::move(programs)), patience_(std::move(patience)), infer_(infer), made_(std::move(made)) {}
  // Known already.
  explicit ProgramGuardians(Table table)
      : analysis_(std::make_shared<Analysis>(Analysis{true, {}, std::move(table), {}})) {}

  // Whether the program carries what the analysis needs. Otherwise nothing is known to be a guardian.
  bool known();
  // Why they are not known although the program has what is needed, as a sentence; empty: that is not so, or nobody
  // asked for what follows.
  const std::string& leftOut() const;
  // What makes a store likely to commit; empty: nothing is known. Who asks for it alone can do without.
  const std::vector<GuardianAccesses>& accesses() { return analysis().accesses; }
  // The instruction reads a guardian and what it found decides what is trusted: not merely a search or a pointer that
  // is followed. By Site::id.
  bool tests(std::uint64_t site);
  // The field is set to say whether other data is valid: a flag, a bit, a count, a version, a checksum.
  bool isCommitVariable(const FieldKey& field);
  // The read, by Site::id, stands under a test of such fields; for each why: "map.cpp:60 tests Bucket.valid before
  // map.cpp:61 reads Bucket.key".
  const std::map<FieldKey, std::string>& guardsOf(std::uint64_t site);
  // The field that a test reads; empty: it is no test.
  const FieldKey& testedBy(std::uint64_t site);

 private:
  const Analysis& analysis();
  const Table& table();
  std::shared_ptr<const Analysis> analyse() const;
  Table tableOf(const Guardians& guardians) const;

  std::vector<std::string> programs_;
  Patience patience_;
  InferOptions infer_;
  std::shared_ptr<Made> made_;
  std::shared_ptr<const Analysis> analysis_;
  bool asked_ = false;  // for more than accesses()
};

}  // namespace blackout
