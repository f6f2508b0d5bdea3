// The options of `blackout check` as the user writes them. `blackout lin` is a check of a harness, and has them too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/check.h"
#include "cli/crash_options.h"
#include "cli/record_options.h"
#include "cli/subcommand.h"

namespace blackout::cli {

struct CheckWords {
  RecordOptions record;
  std::string fromTrace;
  std::vector<std::string> only;
  std::vector<std::string> suppressions;
  bool printSuppressions = false;
  std::vector<std::string> trust;
  bool pmdk = false;
  std::string failOn;  // empty: proved if crashes are explored, else suspected
  CrashWords crash;
  std::string model = "x86";
  std::vector<std::string> detect;
  std::string mechanisms;
  bool planPairs = false;
  std::string json;
  std::string report;
  std::string sarif;
  std::string junit;
  std::string baseline;
  std::string html;
  std::string out;
  bool quiet = false;
  bool verbose = false;
  // Of `lin`: what the program gets besides its own arguments, and that it must say what structure it is.
  std::vector<std::string> arguments;
  bool needsSpecification = false;
  bool showPoints = false;
  bool judgeOrders = true;
  std::uint64_t schedules = 1;
  std::optional<std::uint64_t> preemptions;
  std::uint64_t threads = 1;
  std::string corpus;  // a folder; empty: there is one list of operations
  std::uint64_t operations = 24, corpusRuns = 400;
  // Of `fs`: the workloads, one after the other.
  std::optional<Campaign> campaign;
};

// `words` must outlive the app.
void declareCheckOptions(CLI::App& app, CheckWords& words);

// `subcommand`: who asks, for sentences.
Result<ExitCode> runCheck(CheckWords words, const ProgramCommand& program, const std::string& subcommand);

}  // namespace blackout::cli
