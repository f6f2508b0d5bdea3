#include "report/caveats.h"

#include <fmt/format.h>

#include <algorithm>

#include "findings/numbers.h"

namespace blackout {

namespace {

bool judgedDurability(const Report& report) {
  return std::find(report.detectors.begin(), report.detectors.end(), nameOf(FindingKind::NeverPersisted)) !=
         report.detectors.end();
}

bool nothingHidden(const Report& report) {
  return report.hiddenByOnly == 0 && report.hiddenAsKnown == 0 && report.suppressed() == 0 && report.trusted.empty();
}

// Only a whole run that was looked at in full, and in which nothing was found, proves anything.
bool provesDurability(const Report& report) {
  auto counts = countBySeverity(report);
  return report.complete() && judgedDurability(report) && nothingHidden(report) && report.run.stores != 0 &&
         counts[static_cast<std::size_t>(Severity::Shown)] == 0 &&
         counts[static_cast<std::size_t>(Severity::Suspected)] == 0;
}

bool provesRecovery(const Report& report) {
  return report.exploration && report.complete() && nothingHidden(report) &&
         report.exploration->completePoints == report.exploration->points && report.exploration->failing == 0 &&
         countBySeverity(report)[static_cast<std::size_t>(Severity::Shown)] == 0 &&
         report.exploration->notExplored.empty();
}

// A run is one way through the code, and of several threads one schedule.
std::string whatRan(const RunSummary& run) {
  if (run.recordings > 1 && run.threads <= 1)
    return fmt::format("{} were judged: code that none of them reached was not looked at.",
                       counted(run.recordings, "run"));
  if (run.recordings > 1)
    return fmt::format(
        "{} were judged, each under a schedule of its own: code that none of them reached, and other interleavings of "
        "the program's threads, were not looked at.",
        counted(run.recordings, "run"));
  if (run.threads > 1)
    return "One run was judged, under one schedule of its threads: code that it did not reach, and other interleavings "
           "of its threads, were not looked at (--schedules N tries N of them).";
  return "One run was judged: code that it did not reach was not looked at.";
}

struct Caveat {
  std::string sentence;
  bool general = false;  // it holds of every result
};

std::vector<Caveat> all(const Report& report) {
  const std::string& model = report.run.model;
  std::vector<Caveat> sentences;
  auto general = [&](std::string sentence) { sentences.push_back({std::move(sentence), true}); };
  auto own = [&](std::string sentence) { sentences.push_back({std::move(sentence), false}); };
  if (provesDurability(report))
    own("In this run every store to the pools that can matter was made durable, at the latest when its operation, its "
        "mapping or the program ended.");
  if (provesRecovery(report))
    own(!report.exploration->assumptions.empty()
            ? "Whatever a crash in this run leaves behind, at any point that matters, the restarted program ends well "
              "on it, if what was assumed holds."
        : report.exploration->exitCodes == ExitCodes::Judged
            ? "Whatever a crash in this run leaves behind, at any point that matters, the restarted program ends well "
              "on it."
            : "Whatever a crash in this run leaves behind, at any point that matters, the restarted program ends by "
              "itself on it, whatever its exit code (--expect-exit any).");
  if (!report.trusted.empty()) {
    std::string names;
    for (const std::string& path : report.trusted)
      names += (names.empty() ? "" : ", ") + path.substr(path.rfind('/') + 1);
    own(names +
        (report.trusted.size() == 1 ? " is trusted: what it does inside a call is"
                                    : " are trusted: what they do inside a call is") +
        " assumed to be right, and a crash comes only before the call. Calls from one place that follow one another "
        "with nothing of the caller's in between count as one.");
  }
  if (!judgedDurability(report)) own("Durability was not judged: the detector never-persisted did not run.");
  if (report.run.recordings > 1 || report.run.threads > 1)
    own(whatRan(report.run));
  else
    general(whatRan(report.run));
  // docs/semantics.md: the unit of write-back is an assumption, and hardware promises less.
  general("A line of 64 bytes is assumed to reach memory as a whole when the power fails; hardware promises 8 bytes.");
  if (model.find("tso=on") == std::string::npos)
    general(
        "Stores take effect in the order of the trace (tso=off): outcomes in which a store still waits in its "
        "processor's buffer are missed.");
  else
    own("While several threads run, what code built with blackout-clang stores to the pools waits in store buffers "
        "(tso=on), and takes effect when the schedule says so. Locks, system calls, atomic instructions, stores to "
        "other memory and all other code empty them at once, and restarts have none: outcomes in which these would "
        "wait are missed.");
  if (report.exploration) {
    if (report.exploration->exitCodes == ExitCodes::Judged)
      general(
          "A restart is judged by how it ends (signals, exit codes, sanitizers, blackout_expect, a checker) and by "
          "what "
          "it prints: wrong data that it neither notices nor prints is not found.");
    else
      own("A restart is judged by how it ends (signals, sanitizers, blackout_expect; not its "
          "exit code) and by what it prints: wrong data that it neither notices nor prints is "
          "not found.");
    if (std::any_of(report.pools.begin(), report.pools.end(),
                    [](const PoolSummary& p) { return p.path == BLACKOUT_HEAP_PATH; }))
      own("The persistent heap never hands out memory twice: a crash that leaves a pointer to a block that was freed "
          "and would have been used again is not found.");
  } else {
    own("Crashes were not explored: data that becomes durable too late or in the wrong order, and a restart that goes "
        "wrong, are not found this way.");
  }
  return sentences;
}

std::vector<std::string> sentencesOf(const Report& report, bool own, bool general) {
  std::vector<std::string> out;
  for (Caveat& c : all(report))
    if (c.general ? general : own) out.push_back(std::move(c.sentence));
  return out;
}

}  // namespace

std::vector<std::string> caveatsOf(const Report& report) { return sentencesOf(report, true, true); }
std::vector<std::string> caveatsOfThisRun(const Report& report) { return sentencesOf(report, true, false); }

std::vector<std::string> limitsOfEveryResult() {
  Report explored;
  explored.exploration.emplace();
  return sentencesOf(explored, false, true);
}

}  // namespace blackout
