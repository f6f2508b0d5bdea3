// Everything that one run of `blackout check` has to say, as data: the findings, what was run and
// under which model, what was not seen, and so whether a clean result means anything. The
// renderings of src/report take a Report and nothing else.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "findings/finding.h"
#include "findings/seen_trace.h"

namespace blackout {

// Figures of the run. Durations are left out on purpose: reports are the same byte for byte.
struct RunSummary {
  std::uint64_t events = 0;
  std::uint64_t stores = 0;
  std::uint64_t loads = 0;
  std::uint64_t flushes = 0;
  std::uint64_t fences = 0;
  std::uint64_t operations = 0;
  std::uint64_t threads = 0;
  std::uint64_t recordings = 0;       // that were judged
  std::uint64_t lines = 0;            // that were stored to
  std::uint64_t points = 0;           // at which a crash is worth a look
  std::optional<double> log10States;  // of the states that eager enumeration would try (Yat)
  std::string model;                  // as --model takes it
  std::optional<int> waitStatus;      // of the program, as wait(2) gives it
  bool operator==(const RunSummary&) const = default;
};

// A load of the restarted program that may read from more than one store (Jaaru's debugging aid).
struct LoadSources {
  std::string load;                 // "map.cpp:60"
  std::vector<std::string> stores;  // places of the stores, and "before the recording"
  std::uint64_t states = 0;         // crash states in which it is so
  bool operator==(const LoadSources&) const = default;
};

// A record of which not every combination was tried: restarts seem to trust it only if it is whole, or the program says
// so.
struct AssumedRecord {
  std::string place;        // where it is read: "log.cpp:88"; empty: unknown
  bool declared = false;    // the program says so (blackout_checksum)
  bool allowed = false;     // by --assume checksums
  bool refuted = false;     // combinations of it went on differently, and --assume checksums says that they don't count
  bool pmdk = false;        // one of PMDK's libraries reads it: its logs are checksummed
  bool summed = false;      // nothing is done with its bytes but to compare a sum of them: its code and a restart agree
  std::uint32_t lines = 0;  // the most that a crash may have lost
  double log10States = 0;   // combinations at the crash with the most
  std::uint64_t tried = 0;  // of them
  std::uint64_t points = 0;  // crashes
  // Somebody answers for it, and not only what a sample of the combinations did.
  bool known() const { return declared || allowed || pmdk || summed; }
  bool operator==(const AssumedRecord&) const = default;
};
// Why a result with such a record, for which nobody answers, is inconclusive.
std::string unansweredText(const AssumedRecord& record);

// What became of the exit codes of restarts.
enum class ExitCodes : std::uint8_t {
  Judged,
  Ignored,  // because the user said that they mean nothing
  Unknown,  // restarts exited with errors, and whether these count is not known
};

// What the exploration of crashes did, in figures that are the same for the same command.
// Stores that are likely to be linearization points (judge/likely_points.h), by line of the source.
struct LikelyPointLine {
  std::string place;  // "map.cpp:60"; empty: unknown
  std::string reason;
  std::uint64_t times = 0;
  std::uint64_t marked = 0;    // of them, by hand
  std::uint64_t inferred = 0;  // of them
  bool operator==(const LikelyPointLine&) const = default;
};
struct TestedPoints {
  bool guardians = false;  // the code was analysed
  std::uint64_t stores = 0, byGuardians = 0, byPublication = 0, inferred = 0, marked = 0, missed = 0;
  std::uint64_t incompleteTests = 0, unrecoveredTests = 0;
  std::vector<LikelyPointLine> lines;  // only if asked for
  bool operator==(const TestedPoints&) const = default;
};

struct ExploredCrashes {
  std::string strategy;              // as --strategy takes it
  std::vector<std::string> command;  // of a restart
  std::uint64_t crashesInARow = 1;
  std::uint64_t points = 0;          // at which the plug was pulled
  std::uint64_t completePoints = 0;  // of them explored to the end
  std::uint64_t runs = 0;            // restarts that were made
  std::uint64_t states = 0;          // crash states, as restarts can tell them apart, over all points
  std::uint64_t failing = 0;         // of them
  std::uint64_t unjudged = 0;        // of them: nothing can be said of how the restart ended
  ExitCodes exitCodes{};
  // Bytes that the program stored, those apart that PMDK's libraries store for themselves, and how many of them any
  // restart read. A result says nothing of the others.
  std::uint64_t storedBytes = 0;
  std::uint64_t readBytes = 0;
  std::uint64_t races = 0;             // pairs of a store and a restart's read of what it may have left or not
  std::uint64_t benignRaces = 0;       // of them, without a finding, and what restarts say was compared
  std::uint64_t uncomparedRaces = 0;   // of them: what restarts say was not compared with what they may say
  std::optional<TestedPoints> likely;  // none: the exploration had no stages
  std::vector<AssumedRecord> assumptions;
  std::vector<std::string> notExplored;
  std::vector<LoadSources> loads;  // only if asked for
  bool operator==(const ExploredCrashes&) const;
};

// What became of the mechanisms of a description, in figures.
struct MechanismSummary {
  std::string name;           // "journal.undo"
  std::string kind;           // "undo journal"
  std::uint64_t objects = 0;  // that it was found in
  std::uint64_t transactions = 0;
  std::uint64_t broken = 0;
  bool operator==(const MechanismSummary&) const = default;
};
struct CheckedMechanisms {
  std::vector<MechanismSummary> mechanisms;
  std::uint64_t stores = 0;
  std::uint64_t unprotected = 0;
  std::uint64_t untyped = 0;      // stores to bytes that have no name
  std::uint64_t plans = 0;        // crash plans that were tried; 0: another strategy was asked for
  std::uint64_t plansForAll = 0;  // two for each store in flight
  // At how many points so many stores are in flight, and of them unprotected: (stores, points), ascending.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> inFlight;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> inFlightUnprotected;
  bool operator==(const CheckedMechanisms&) const = default;
};

struct PoolSummary {
  std::string path;
  std::uint64_t size = 0;  // at the end
  bool created = false;    // by the program
  bool removed = false;
  bool operator==(const PoolSummary&) const = default;
};

// One line of a --suppressions file and the findings that it hid; 0: it may be stale.
struct SuppressionUse {
  std::string file;
  std::uint32_t line = 0;
  std::string text;
  std::uint64_t findings = 0;
  bool operator==(const SuppressionUse&) const = default;
};

struct Report {
  std::vector<std::string> command;
  std::vector<PoolSummary> pools;
  std::vector<Finding> findings;
  std::vector<std::string> detectors;   // that ran, by name
  std::vector<std::string> notes;       // honest sentences about how to read the result
  std::vector<std::string> incomplete;  // why the result is inconclusive; empty: it is whole
  std::uint64_t hiddenByOnly = 0;       // findings that --only left out
  std::uint64_t hiddenAsKnown = 0;      // findings that --baseline has
  std::vector<SuppressionUse> suppressions;
  std::vector<std::string> readySuppressions;  // lines that would hide the findings; only if asked for
  std::vector<std::string> trusted;            // paths of the objects that --trust names
  bool trapped = false;                        // code that is not instrumented was followed by traps
  RunSummary run;
  std::optional<ExploredCrashes> exploration;   // none: crashes were not explored
  std::optional<CheckedMechanisms> mechanisms;  // none: none are described
  std::vector<SeenTrace> traces;                // what is shown of recorded runs; findings name it by its number
  bool operator==(const Report&) const;

  bool complete() const { return incomplete.empty(); }
  std::uint64_t suppressed() const {
    std::uint64_t sum = 0;
    for (const SuppressionUse& s : suppressions) sum += s.findings;
    return sum;
  }
};

// The report of several recordings of one program: findings with one cause become one (the worst of them, counts
// added), figures add up, what was not seen of one was not seen of the sum. Report() is the neutral element. The
// first summand's word stands where only one can: its command, its pools, the example of two equally bad ones.
Report& operator+=(Report& into, const Report& more);

// Leaves out what is shown of recorded runs that no finding is about.
void dropUnusedTraces(Report& report);

// Number of findings of each severity, indexed by it.
std::array<std::uint64_t, 3> countBySeverity(const Report& report);

// What --fail-on asks for: which findings make the command fail.
enum class FailOn : std::uint8_t {
  Shown,
  Proved,  // shown, or suspected with a restart that behaves as it should not
  Suspected,
  Performance,
};
std::string_view nameOf(FailOn failOn);
std::optional<FailOn> failOnNamed(std::string_view name);
// Whether a finding makes the command fail.
bool fails(const Finding& finding, FailOn failOn);
ExitCode exitCodeOf(const Report& report, FailOn failOn);

}  // namespace blackout
