// How the program under test ended, kept apart from anything that Blackout found: a program that
// fails without a simulated crash is a fact about the run and no finding.
#pragma once

#include <optional>
#include <string>

#include "findings/report.h"

namespace blackout {

// "exit code 3", "signal SIGSEGV (Segmentation fault)"; empty for exit code 0.
std::string endingText(int waitStatus);

// Says so in the report, as a reason for being inconclusive: what the program would still have persisted is not known.
// `anyExit`: its exit code means nothing, so that it is a note.
void tellEnding(Report& report, bool anyExit);

}  // namespace blackout
