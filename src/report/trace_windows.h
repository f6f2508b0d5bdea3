// What a report shows of a recorded run beside its findings: the events around each, the operations, and what a crash
// could have left just before the points near it. All of it is read from the trace and its index.
#pragma once

#include <cstdint>

#include "findings/report.h"
#include "model/index.h"

namespace blackout {

// Of the events around each finding at most `most`; 0: nothing is added. Findings that name no event of the run get
// nothing.
void addTraceWindows(Report& report, const Index& index, std::uint64_t most);

}  // namespace blackout
