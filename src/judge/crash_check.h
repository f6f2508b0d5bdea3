// The check for crashes as a whole: a restart on the intact final image, the exploration, its causes, each shown once
// more and put into a finding with a file that replays it, and an honest account of what was and was not
// explored. Everything that the command line decides comes in as options; nothing is printed here.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "binary/stacks.h"
#include "blackout/linearize.hpp"
#include "detect/detect.h"
#include "explore/explorer.h"
#include "findings/replay_file.h"
#include "findings/report.h"
#include "judge/likely_points.h"
#include "judge/oracle.h"
#include "judge/point_choice.h"
#include "judge/program_guardians.h"
#include "judge/site_coverage.h"
#include "run/patience.h"
#include "run/process_runner.h"

namespace blackout {

class CrashPlans;

// What the exit code of a restart means.
enum class ExpectExit : std::uint8_t {
  Auto,  // 0 is expected if the recorded run and a restart on the intact final image exit with 0
  Zero,
  Any,
};

struct CrashProgress {
  Progress exploration;
  std::uint64_t failingWays = 0;  // different ones so far
};

struct CrashEstimate {
  std::uint64_t points = 0;
  double secondsPerRun = 0;
  // Of the whole exploration, if it is like most.
  double fewSeconds = 0;
  double manySeconds = 0;
};

struct CrashOptions {
  RecoveryProgram program;
  RunLimits limits;
  std::string folder;          // in which the restarts run
  int recordedStatus = 0;      // of the recorded run, as wait(2) gives it
  bool sameCommand = true;     // restarts run what was recorded, with an empty standard input if the program names none
  bool recordedInput = false;  // the recorded run read its standard input
  bool checker = false;        // the command judges the pools: its exit code always counts
  ExpectExit expectExit = ExpectExit::Auto;
  DetectOptions detect;  // of the detectors that judge restarts
  PointChoice points;
  StrategyChoice strategy;
  std::shared_ptr<const CrashPlans> plans;  // those of the strategy "plans"
  std::uint64_t seed = 1;
  unsigned crashesInARow = 1;
  lin::Criterion criterion = lin::Criterion::Durable;  // of answers of marked operations
  bool stages = false;                                 // states around likely linearization points first
  bool showPoints = false;                             // list these points
  bool tellReached = true;                             // with stages: what code the operations did not reach
  bool generated = false;                              // the operations come from a generator, which options change
  bool judgeOrders = true;                             // false: answers are compared with one another alone
  bool needsSpecification = false;                     // without one the result is inconclusive
  bool assumeChecksums = false;  // what is read whole is taken for checksummed, whatever restarts do with it
  bool tree = true;
  unsigned jobs = 1;
  double seconds = 0;         // 0: no bound
  double inferSeconds = 2;    // for arrays and their counters, whose states come first; 0: they are not looked for
  std::uint64_t maxRuns = 0;  // 0: no bound
  bool loadsReport = false;   // list the loads that may read from more than one store
  // What the code of programs says, for all checks that have these options or a copy of them.
  std::shared_ptr<ProgramGuardians::Made> guardians = std::make_shared<ProgramGuardians::Made>();
  std::string resume;  // go on from this file; empty: from the beginning
  std::string saveTo;  // where to save an exploration that a bound or an interrupt ends; empty: nowhere
  const std::atomic<bool>* interrupt = nullptr;        // set: come to an end, with a report
  const std::atomic<bool>* again = nullptr;            // set: at once
  std::function<void(const CrashEstimate&)> estimate;  // before the exploration begins
  std::function<void(const CrashProgress&)> progress;
};

struct CrashCheck {
  std::vector<ReplayableFinding> findings;  // a bug of the program itself first
  ExploredCrashes exploration;
  std::vector<std::string> notes;
  std::vector<std::string> incomplete;
  LinesReached reached;  // with stages: by the recorded run and by recovery
};

Result<CrashCheck> checkCrashes(const Index& recording, const CrashOptions& options, Stacks& stacks);

// The same on any runners: `uncrashed` runs on a baseline that has the beginning and the end of the recording as its
// points (uncrashedPoints), `runs` on `baseline`.
struct CrashRunners {
  Runner& uncrashed;
  const Baseline& ends;
  Runner& runs;
  TrackedBytes& tracked;
  const Baseline& baseline;
  std::function<Result<void>()> trackedGrew;
  // What the runners give up by; none: what the options say.
  std::optional<Patience> patience = std::nullopt;
  // Restarts with other addresses than the recorded process had; empty: none are tried.
  std::function<Result<Runner*>()> elsewhere = {};
};
Result<CrashCheck> checkCrashes(const CrashRunners& runners, const CrashOptions& options, Stacks& stacks);

}  // namespace blackout
