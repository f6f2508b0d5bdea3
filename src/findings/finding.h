// The finding as data: what was found, how sure that is, the places in the source that matter and
// what was seen there. Detectors make findings from a trace; src/report makes the sentences. All of it is plain values
// that compare, copy and serialise, and nothing in it depends on addresses or time, so that two runs of one command
// give equal findings.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "binary/frame.h"
#include "events/site.h"
#include "findings/facts.h"
#include "findings/fix.h"
#include "model/crash_state.h"

namespace blackout {

// How sure a finding is, worst first. A recovery that went wrong is Shown; a broken rule is
// Suspected; wasted work is Performance. The three are never mixed in a report.
enum class Severity : std::uint8_t { Shown, Suspected, Performance };

struct FindingKindRow {
  FindingKind kind;
  std::string_view name;
  Severity severity;  // the default
  std::string_view title;
  std::string_view meaning;
  std::string_view hint;
};

// All rows of finding_kinds.def, in its order.
const std::vector<FindingKindRow>& findingKinds();
const FindingKindRow& rowOf(FindingKind kind);
std::string_view nameOf(FindingKind kind);
std::string_view nameOf(Severity severity);
std::optional<FindingKind> findingKindNamed(std::string_view name);

// A place that matters, shown as "(1) written here". A detector fills what the trace says (see
// placeOf); report/places.h adds the frames.
struct NumberedPlace {
  std::string label;         // "written here", "operation ends here", "the program ends here"
  StackId where = 0;         // in the trace; 0: unknown, or a place that is not in the source
  std::uint64_t siteId = 0;  // the same in any build of the same source
  std::string access;        // what the instruction is: "store", "clwb" ...; empty: unknown
  std::uint32_t size = 0;    // bytes that it accesses; 0: varies
  std::string type;          // "Struct.field"; empty: unknown
  // Who asked a library's instruction for it, where its callers are told apart: a function, and which of its calls.
  std::string caller;
  // It belongs to the state that was chosen to show the finding, not to its cause: another run may show the
  // same cause elsewhere, so it is no part of the fingerprint.
  bool incidental = false;
  std::vector<Frame> stack;  // innermost first; empty: not resolved or unknown
  // The other sources of an instruction that an optimiser merged, each with the calls into which
  // it was inlined.
  std::vector<std::vector<Frame>> alsoFrom;
  bool operator==(const NumberedPlace&) const = default;
};

// An example of bytes that are affected.
struct AffectedBytes {
  std::string file;  // path of the pool
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string type;  // "Struct.field"; empty: unknown
  auto operator<=>(const AffectedBytes&) const = default;
};

// How often: `times` of the `of` executions of the first place's instruction.
struct Counts {
  std::uint64_t times = 0;
  std::uint64_t of = 0;  // 0: not counted
  bool operator==(const Counts&) const = default;
};

// What wasted work costs: lines written back, fences waited for and bytes logged for nothing, of all in the run.
struct Cost {
  std::uint64_t amount = 0;
  std::uint64_t of = 0;  // in the whole run
  std::string unit;      // "flush", "fence", "logged byte": as counted() takes it
  bool operator==(const Cost&) const = default;
};

// One crash of the state that shows a finding: in the trace of `level`, just before `event`, with everything persisted
// but the stores that it loses.
struct SeenCrash {
  unsigned level = 1;
  EventNo event = 0;
  PlaceNo after = 0;  // the last place before it; 0: there is none
  std::vector<SeenStore> lost;
  bool operator==(const SeenCrash&) const = default;
};

// How a crash and a restart showed a finding.
struct ShownBy {
  std::string symptom;              // the oracle's words, said of the restarted program: "crashes with SIGSEGV"
  PlaceNo failsAt = 0;              // where it failed
  std::vector<SeenCrash> crashes;   // none: the program had ended by itself
  std::uint64_t states = 0;         // distinct ones with this cause, as the restarted program can tell them apart
  std::uint64_t points = 0;         // at which there are any
  std::vector<std::string> output;  // the restarted program's own words, a few lines
  bool operator==(const ShownBy&) const = default;
};

// What a finding is in the words of the field (XFDetector): a read across the failure of what was not durable, one of
// what was durable but not valid, or wasted work.
enum class BugClass : std::uint8_t { None, Race, Semantic, Performance };
std::string_view nameOf(BugClass bugClass);  // "race", "semantic", "performance"; empty: none

struct Finding {
  // Compiled once, in finding.cpp: hundreds of places copy and destroy findings.
  Finding();
  Finding(const Finding&);
  Finding(Finding&&) noexcept;
  Finding& operator=(const Finding&);
  Finding& operator=(Finding&&) noexcept;
  ~Finding();
  bool operator==(const Finding&) const;

  FindingKind kind{};
  Severity severity{};
  BugClass bugClass{};
  Claim claim;  // what it says
  std::vector<NumberedPlace> places;
  const NumberedPlace& place(PlaceNo n) const { return places[n.value() - 1]; }
  Counts counts;
  std::optional<Cost> cost;
  std::vector<Fact> evidence;           // each true by itself
  std::vector<AffectedBytes> examples;  // at most kMaxExamples
  std::string operation;                // its name; empty: none
  // Findings of crash exploration only: what showed it, the crash state, and the file that replays it.
  std::optional<ShownBy> shownBy;
  std::optional<CrashState> crashState;
  std::optional<std::string> replay;
  std::string schedule;        // of the recording that it is about, where there were several; empty: the usual one
  std::string operationsFile;  // the same of the operations that a harness made; empty: those of its generator
  std::uint32_t trace = 0;     // the number of what is shown of its recorded run, from 1 (Report::traces); 0: nothing
  std::vector<Fix> fixes;      // changes that were tried, each of which leaves nothing of it; the cheapest first
};

constexpr std::size_t kMaxExamples = 4;

// A finding of the kind with its default severity.
Finding makeFinding(FindingKind kind, Claim claim = {});

// The place of an event: its site's id, access, size and type, without frames.
NumberedPlace placeOf(const Trace& trace, std::string label, StackId where);

// Names the finding across runs and builds: a hash of its kind and its places' site ids (incidental ones left out), and
// of callers that are told apart. One without any such place is named by what a restart does, and by the function in
// which it fails. Counts, offsets and addresses do not enter; lines do, by the sites' ids, so an edit above the places
// in their file changes it.
std::uint64_t fingerprint(const Finding& finding);
// Whether no place is its cause's own: all belong to the state that shows it.
bool placeless(const Finding& finding);
std::string fingerprintText(const Finding& finding);  // 16 hexadecimal digits

// Worst first: severity, kind, times, then the places. Total up to equal fingerprints.
void sortFindings(std::vector<Finding>& findings);

}  // namespace blackout
