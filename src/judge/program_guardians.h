// The guardians of the program under test, by the instructions that a restart names: which reads are tests that the
// program makes before it trusts something, and what is read because of them. The analysis runs when it is first asked
// for, which most checks never do.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "infer/analysis.h"
#include "infer/guardians.h"
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
  // Program files: the program and the libraries with instrumented code.
  explicit ProgramGuardians(std::vector<std::string> programs, Patience patience = {}, InferOptions infer = {})
      : programs_(std::move(programs)), patience_(std::move(patience)), infer_(infer) {}
  // Known already.
  explicit ProgramGuardians(Table table) : analysed_(true), known_(true), table_(std::move(table)) {}

  // Whether the program carries what the analysis needs. Otherwise nothing is known to be a guardian.
  bool known();
  // Why they are not known although the program has what is needed, as a sentence; empty: that is not so.
  const std::string& leftOut() const { return leftOut_; }
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
  void analyse();
  Table tableOf(const Guardians& guardians) const;

  std::vector<std::string> programs_;
  Patience patience_;
  InferOptions infer_;
  std::string leftOut_;
  bool analysed_ = false;
  bool known_ = false;
  Table table_;
};

}  // namespace blackout
