// The options of `blackout check` as the user writes them. `blackout lin` is a check of a harness, and has them too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/check.h"
#include "cli/crash_options.h"
#include "cli/outputs.h"
#include "cli/record_options.h"
#include "cli/subcommand.h"

namespace blackout::cli {

struct CheckWords : OutputWords {
  RecordOptions record;
  std::string fromTrace;
  std::vector<std::string> only;
  std::vector<std::string> suppressions;
  bool printSuppressions = false;
  std::vector<std::string> trust;
  bool pmdk = false;
  CrashWords crash;
  std::string model = "x86";
  std::vector<std::string> detect;
  std::string mechanisms;
  std::string baseline;
  std::optional<std::uint64_t> events;  // none: the usual number
  // Of `lin`: what the program gets besides its own arguments, and that it must say what structure it is.
  std::vector<std::string> arguments;
  bool needsSpecification = false;
  bool showPoints = false;
  bool judgeOrders = true;
  // Operations come from a generator or a list, which options change.
  bool generated = false;
  std::uint64_t schedules = 1;
  std::optional<std::uint64_t> preemptions;
  std::uint64_t threads = 1;
  std::string corpus;                       // a folder; empty: there is one list of operations
  std::optional<std::uint64_t> operations;  // none: as many as the harness finds fit
  std::uint64_t corpusRuns = 400;
  // Of `fs`: the workloads, one after the other.
  std::optional<Campaign> campaign;
};

// `words` must outlive the app.
void declareCheckOptions(CLI::App& app, CheckWords& words);

// `subcommand`: who asks, for sentences.
Result<ExitCode> runCheck(CheckWords words, const ProgramCommand& program, const std::string& subcommand);

}  // namespace blackout::cli
