// What checks that make more than one recording share: the recordings one after another in the time that there is for
// all of them, and a look at how one ended before anything is said of what it did.
#pragma once

#include <sys/wait.h>

#include <algorithm>

#include "check/one_recording.h"
#include "events/trace.h"
#include "run/patience.h"

namespace blackout {

// What there is of --time as a whole, and who may interrupt it. Each exploration gets what is left.
inline Patience patienceOf(const CheckOptions& options) {
  if (!options.crash) return {};
  return {options.crash->interrupt, options.crash->again, options.crash->seconds};
}

// What is recorded, and the restarts that go with it, are of this command.
inline void takeCommand(CheckOptions& options, std::vector<std::string> command) {
  options.record.command = std::move(command);
  if (options.crash && options.crash->sameCommand) options.crash->program.command = options.record.command;
}

// Each exploration is one of several: there is nothing to go on from, and nothing to save. Who asks for it is told.
inline Result<void> refuseResume(const CheckOptions& options) {
  if (!options.crash || options.crash->resume.empty()) return {};
  return fail("--resume: there is an exploration of each schedule, and none to go on from; leave it out");
}
inline void withoutResume(CheckOptions& options) {
  if (!options.crash) return;
  options.crash->resume.clear();
  options.crash->saveTo.clear();
}

// One recording after another, each judged by itself, in what is left of the time for all of them.
class RecordingsInTurn {
 public:
  explicit RecordingsInTurn(CheckOptions given) : options(std::move(given)), patience(patienceOf(options)) {
    withoutResume(options);
  }

  // Of the options' command and schedule.
  Result<Recording> next() const { return record(options.record); }
  // Of this command, which the restarts that go with it run too.
  Result<Recording> next(std::vector<std::string> command) {
    takeCommand(options, std::move(command));
    return next();
  }
  Result<Judged> judge(Recording& recording) {
    if (options.crash) options.crash->seconds = patience.left();
    return judgeRecording(recording, options);
  }

  CheckOptions options;
  const Patience patience;
};

// False: it died, said by its exit code that something is wrong, or came into a deadlock. What it would have done next
// is not known.
inline bool endedWell(const Recording& recording, const Trace& trace, const CheckOptions& options) {
  bool right = recording.waitStatus == 0 || (options.anyExit && WIFEXITED(recording.waitStatus));
  return right && (trace.problems() & BLACKOUT_PROBLEM_STOPPED) == 0;
}

// Of a recording that is not judged: why its trace is not whole, each sentence once.
inline void tellIncomplete(const Recording& recording, Report& report) {
  for (const std::string& s : recording.incomplete)
    if (std::find(report.incomplete.begin(), report.incomplete.end(), s) == report.incomplete.end())
      report.incomplete.push_back(s);
}

}  // namespace blackout
