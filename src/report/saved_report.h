// A report that was kept, read again. As JSON, by --json or in a run's folder: what it says of its findings, which any
// version can read. Whole, in a run's folder: to be added up with others, by the version that wrote it.
#pragma once

#include <string>
#include <vector>

#include "events/error.h"
#include "findings/report.h"

namespace blackout {

struct SavedReport {
  struct Listed {
    std::string fingerprint;
    Severity severity{};
    std::string line;  // "log.c:62:5: error: ... [missing-flush]", without anything that a terminal obeys
  };
  std::vector<std::string> command;
  bool complete = false;
  std::uint64_t leftOut = 0;  // by --only, suppressions or a baseline
  std::vector<Listed> findings;
};

// The text of a report as JSON: a file, or a run's folder, in which it is report.json. `option`: what the complaint
// begins with, as "--baseline"; may be empty.
Result<std::string> readReportText(const std::string& path, const std::string& option);
Result<SavedReport> readSavedReport(const std::string& path, const std::string& option);

// What a run's folder has for sums: the report with all of its members. Paths of replay files are relative to the
// folder in the bytes, and lead there when they are read.
constexpr const char* kKeptReport = "report.kept";
Result<std::string> packReport(Report report, const std::string& folder);
Result<Report> readKeptReport(const std::string& folder);

}  // namespace blackout
