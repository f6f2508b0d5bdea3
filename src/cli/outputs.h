// Where a report goes, and in which forms: options that `check`, `lin`, `fs` and `merge` have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/subcommand.h"
#include "findings/report.h"
#include "report/output_file.h"
#include "report/run_folder.h"
#include "report/text.h"

namespace blackout::cli {

// As the user writes them.
struct OutputWords {
  std::string failOn;  // empty: what the command takes by itself
  std::string json;
  std::string report;
  std::string sarif;
  std::string junit;
  std::string html;
  std::string out;
  std::uint64_t keepRuns = 100, keepMib = 4096;
  bool quiet = false;
  bool verbose = false;
};

// `words` must outlive the app.
void declareOutputOptions(CLI::App& app, OutputWords& words);

// What they mean, checked before anything runs: a mistyped option must not cost a run.
struct Outputs {
  // `failOn`: if the user says nothing.
  static Result<Outputs> prepare(const OutputWords& words, FailOn failOn);
  // Makes the run's folder, if there is to be one: last of all, so that nothing that is refused leaves one.
  Result<void> makeFolder(const OutputWords& words);
  // One of them goes to standard output.
  bool onStandardOutput() const;

  FailOn failOn{};
  Detail detail = Detail::Normal;
  std::optional<OutputFile> json, report, sarif, junit, html;
  std::optional<RunFolder> out;
  RunFolder::Limits limits;
};

// Writes the report to all of them, and to standard error. What can't be written where it should go is said there, by
// the name of the command. Returns what the command exits with.
ExitCode publish(const Report& report, const Outputs& outputs, const std::string& command);

}  // namespace blackout::cli
