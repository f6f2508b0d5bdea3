// What a trace says about its run, in figures and sentences: the part of a report that needs no
// model and no detector.
#pragma once

#include "findings/report.h"

namespace blackout {

// Fills the report's figures and pools from the trace, and says why the trace is not whole if it is
// not. Lines, points and states come from the index, the ending from tellEnding.
void summarise(const Trace& trace, Report& report);

}  // namespace blackout
