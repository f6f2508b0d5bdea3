// How the program under test ended, kept apart from anything that Blackout found: a program that
// fails without a simulated crash is a fact about the run and no finding.
#pragma once

#include <optional>
#include <string>

#include "findings/report.h"

namespace blackout {

// "exit code 3", "signal SIGSEGV (Segmentation fault)"; empty for exit code 0.
std::string endingText(int waitStatus);

// Says so in the report: a note for an exit code, a reason for being inconclusive for a signal,
// because what the program would still have persisted is not known.
void tellEnding(Report& report);

}  // namespace blackout
