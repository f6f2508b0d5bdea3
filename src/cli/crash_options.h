// The options of `blackout check` that concern the exploration of crashes, as the user writes them and as the
// modules take them.
#pragma once

#include <optional>
#include <string>

#include "cli/cli11.h"
#include "judge/crash_check.h"
#include "run/recording.h"

namespace blackout::cli {

struct CrashWords {
  bool noExplore = false;
  std::string recover;
  std::string checker;
  std::string recoverStdin;
  std::string recoverDrive;
  unsigned jobs = 0;  // 0: all cores
  unsigned crashesInARow = 1;
  std::string strategy;  // empty: lazy, or plans if mechanisms are described
  bool planPairs = false;
  std::uint64_t seed = 1;
  std::string points = "enough";
  std::optional<std::uint64_t> from;
  std::optional<std::uint64_t> to;
  bool noTree = false;
  double seconds = 0;
  std::uint64_t maxRuns = 0;
  double inferSeconds = 2;
  std::string assume;
  RunLimits limits;
  std::string resume;
  unsigned heap = 0;  // MiB
  std::optional<unsigned> heapFill;
  bool noPin = false;
  std::string expectExit = "auto";
  std::string findings = "blackout-findings";
  bool loadsReport = false;
  std::string criterion = "durable";
};

// `words` must outlive the app.
void declareCrashOptions(CLI::App& app, CrashWords& words);

// The strategy that the words ask for; `mechanisms`: some are described.
Result<StrategyChoice> strategyChoice(const CrashWords& words, bool mechanisms);

// What the words mean, checked before anything runs; without what only the recording knows (its exit status), and
// without the strategy. `program` is the recorded command with its client, which are also the restart's unless others
// are named.
Result<CrashOptions> crashOptions(const CrashWords& words, const RecordOptions& program);

}  // namespace blackout::cli
