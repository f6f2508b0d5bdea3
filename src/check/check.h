// The whole check as one call: record a program (or take a trace), judge the trace, pull the plug, give places,
// suppress, sort, and write the replay files. What the command line decides comes in as options, what is to be said
// goes out as a Report; nothing is printed here.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "findings/only.h"
#include "findings/suppressions.h"
#include "judge/crash_check.h"
#include "mechanisms/description.h"
#include "report/finding_files.h"
#include "report/known_findings.h"
#include "run/recording.h"

namespace blackout {

// Lists of operations that a harness makes one after the other, each from a file (check/campaign.h).
struct Campaign {
  struct Workload {
    std::uint64_t number = 0;  // among those of all parts
    std::string name;
    std::string text;
  };
  std::vector<Workload> workloads;
  std::string folder;             // for the files of those that show something
  std::set<std::string> without;  // operations that the file system does not have: nothing is missing without them
  bool skipKnown = true;          // operations that went the same way through the code before are not explored again
  // Where the results are kept as they come, to go on from, and what decides over them (check/results.h); empty:
  // nowhere.
  std::string results;
  std::map<std::string, std::string> settings;
  // Nothing is run: what is kept in these folders is added up.
  std::vector<std::string> merge;

  struct Progress {
    std::uint64_t done = 0, of = 0;
    std::uint64_t before = 0;  // of those that are done: by an earlier run of the same command
    std::uint64_t onlyMade = 0;
    std::uint64_t findings = 0;
    double seconds = 0;
  };
  std::function<void(const Progress&)> progress;
};

struct CheckOptions {
  RecordOptions record;  // `command` empty: nothing is run, `trace` is judged
  std::string trace;     // of a run that is over
  ModelOptions model;
  DetectOptions detect;
  std::vector<std::string> trust;     // objects whose own crash consistency is taken for granted
  bool pmdk = false;                  // PMDK's libraries are trusted, and what that leaves out is said
  std::optional<CrashOptions> crash;  // none: crashes are not explored
  // In how many ways the program's threads take turns: so many recordings, each judged, and one report of all.
  std::uint64_t schedules = 1;
  std::uint64_t scheduleSeed = 1;
  // All schedules with at most so many preemptions instead, but no more than `schedules`; none: those of the seed.
  std::optional<std::uint64_t> preemptions;
  // Of a harness of <blackout/lin.hpp>: so many threads make its operations, after one has made them alone.
  std::uint64_t threads = 1;
  std::optional<Description> mechanisms;  // of the program, checked; the strategy "plans" is made from them
  // Of a harness of <blackout/lin.hpp>: lists of operations that reach more than its first one are looked for, kept in
  // a folder and explored too (check/guided.h).
  struct Corpus {
    std::string folder;
    std::vector<std::string> harness;  // the command, without what says which operations
    std::uint64_t seed = 1;
    std::optional<std::uint64_t> operations;  // none: as many as the harness finds fit
    std::uint64_t runs = 0;                   // without a crash, at most
  };
  std::optional<Corpus> corpus;
  std::optional<Campaign> campaign;  // of a harness of <blackout/fs.hpp>
  bool anyExit = false;              // exit codes mean nothing: those of the recorded run too
  OnlyFilter only;
  Suppressions suppressions;
  KnownFindings known;                          // fingerprints of findings that are not to be told again
  bool readySuppressions = false;               // the report is to have the lines that would hide its findings
  std::uint64_t events = 0;                     // of the recorded run, around each finding, that the report has
  std::string findings;                         // folder for the findings' replay files
  ReplayNames replays = ReplayNames::Numbered;  // how they lie in it
};

Result<Report> check(const CheckOptions& options);

}  // namespace blackout
