// The detectors, as one table: each row has a name, what it looks for, whether
// it is on by default and the function. A detector turns a trace and its index into findings,
// grouped by the instruction that they are about, and prints nothing.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "findings/finding.h"
#include "model/index.h"

namespace blackout {

struct DetectInput {
  const Trace& trace;
  const Index& index;
};

struct Detector {
  std::string_view name;  // that of its kind of finding
  std::string_view help;
  bool onByDefault = true;
  // Its findings are wrong if code that the recorder did not see touched PM: such code may have
  // flushed what was stored, or stored what was flushed.
  bool needsWholeView = true;
  // Null: it judges restarts (crash_check.h).
  std::vector<Finding> (*run)(const DetectInput& input) = nullptr;
};

// In the order of finding_kinds.def.
std::span<const Detector> detectors();

struct DetectOptions {
  DetectOptions();            // the defaults of the table
  std::vector<bool> enabled;  // by row of the table
  // Code that isn't instrumented touched PM. Whoever sets it has the sentence to say so.
  bool blind = false;
};

// What --detect takes: each word is a detector's name, "-name", "all" or "none", applied in turn to the
// defaults.
Result<DetectOptions> parseDetectOptions(std::span<const std::string> words);

// For --help: every detector with what it looks for.
std::string detectHelp();

// Those that run with these options. `explored`: those that judge restarts, too.
std::vector<std::string> detectorNames(const DetectOptions& options, bool explored);
// Whether findings of the kind are wanted; those of kinds without a detector always are.
bool wants(const DetectOptions& options, FindingKind kind);

// A store that its transaction had not logged, and that a crash has shown to matter, is one mistake: the finding of the
// restart says so too, and the other one goes. With places resolved.
void joinUnlogged(std::vector<Finding>& findings);
// The same of a store that was never made durable, and whose loss a crash has shown: where the same cure helps.
void joinNotDurable(std::vector<Finding>& findings);

// The findings of all of them, worst first.
std::vector<Finding> detect(const Index& index, const DetectOptions& options = {});

}  // namespace blackout
