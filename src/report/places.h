// The places of a report in the source: detectors name them by what the trace knows; here they get their calls with
// names and lines, and the program files that they lie in.
#pragma once

#include "events/site.h"
#include "findings/report.h"

namespace blackout {

// Gives their stacks to all places of the report that have none yet.
void resolvePlaces(Report& report, const Trace& trace);

}  // namespace blackout
