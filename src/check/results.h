// What a campaign (check/campaign.h) knows of its workloads, in a database: a row for each, written when it is done,
// and the operations that were explored. A campaign that ended in its middle goes on from there, and campaigns over
// parts of the workloads are added up. It is a file from outside when it is read: what is not as it was written is
// refused.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "events/database.h"
#include "events/error.h"
#include "findings/report_bytes.h"
#include "judge/site_coverage.h"

namespace blackout {

struct WorkloadResult {
  enum class Was : std::uint8_t {
    Explored,
    OnlyMade,      // every operation had gone the same way through the code before
    NotSupported,  // the harness has no such operation
  };
  std::uint64_t number = 0;  // among all workloads, whatever part of them the campaign has
  std::string name;
  Was was{};
  std::string lacks;                   // the operation that is not there, of one that is not supported
  bool marked = true;                  // the program marks its operations
  std::uint64_t known = 0;             // operations that were not explored because one like them had been
  std::set<std::uint64_t> operations;  // that were explored here first (operationFingerprints)
  LinesReached reached;                // by the recording
  KeptReport kept;                     // if it was explored
};

class Results {
 public:
  // What decides over results: the command and its options, by name.
  using Settings = std::map<std::string, std::string>;
  // The setting that says which part of the workloads it is: the only one in which results that are added up differ.
  static constexpr const char* kShard = "--shard";
  // Operations that the file system is said not to have.
  static constexpr const char* kWithout = "--without";
  // How many workloads there are in all parts.
  static constexpr const char* kWorkloads = "workloads";

  // Those of this campaign, to go on from; none yet: an empty database is made.
  static Result<Results> open(const std::string& folder, const Settings& settings);
  // Those of any campaign.
  static Result<Results> read(const std::string& folder);
  static std::string fileIn(const std::string& folder) { return folder + "/results.db"; }

  const Settings& settings() const { return settings_; }
  // The sentence that says why two campaigns are not of one kind; empty: they are.
  static std::string difference(const Settings& a, const Settings& b, bool shardsToo);

  std::set<std::uint64_t> numbers() const { return numbers_; }
  bool has(std::uint64_t number) const { return numbers_.count(number) != 0; }
  Result<WorkloadResult> load(std::uint64_t number) const;
  Result<std::set<std::uint64_t>> operations() const;
  // Lines of the program that store to structs, reached or not: a report of several campaigns is made without the
  // program.
  Result<LinesReached::StoringLines> lines() const;
  Result<void> add(const LinesReached::StoringLines& lines);
  // It is in the file, or nothing of it.
  Result<void> add(const WorkloadResult& result);

 private:
  explicit Results(Database db) : db_(std::move(db)) {}
  Result<void> check();

  Database db_;
  Settings settings_;
  std::set<std::uint64_t> numbers_;
};

}  // namespace blackout
