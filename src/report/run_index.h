// FOLDER/index.db: which runs there are in a folder of `--out`, when each began and what came of it, finding by
// finding, so that they can be listed and compared without reading their reports. It is a database that `sqlite3` opens
// too.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "events/database.h"
#include "findings/report.h"

namespace blackout {

struct IndexedRun {
  std::uint64_t number = 0;
  std::string mark;         // that its folder has, too
  std::uint64_t began = 0;  // seconds since 1970
  // Of one that was finished:
  bool finished = false;
  std::string command;
  ExitCode exit{};
  std::string verdict;
  std::set<std::string> findings;  // their fingerprints
};

class RunIndex {
 public:
  static std::string fileIn(const std::string& folder) { return folder + "/index.db"; }
  static bool isIn(const std::string& folder);
  // `write`: it is made if there is none.
  static Result<RunIndex> open(const std::string& folder, bool write);

  Result<void> begin(std::uint64_t number, const std::string& mark) const;
  Result<void> finish(std::uint64_t number, const Report& report, FailOn failOn) const;
  Result<void> forget(std::uint64_t number) const;
  // The highest number that was ever given; none: there was no run.
  std::optional<std::uint64_t> lastNumber() const;
  // By their numbers.
  Result<std::vector<IndexedRun>> runs() const;

 private:
  explicit RunIndex(Database db) : db_(std::move(db)) {}
  Database db_;
};

// The run before one, of the same command, with which it is compared; null: there is none.
const IndexedRun* runBefore(const std::vector<IndexedRun>& runs, const IndexedRun& run);

// `blackout report FOLDER`: a line for each run, with what is new in it and what is gone.
std::string renderRuns(const std::vector<IndexedRun>& runs);

}  // namespace blackout
