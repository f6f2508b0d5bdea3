// The report for programs: JSON of a versioned schema (docs/report-json.md, docs/report.schema.json), the same byte for
// byte for the same run.
#pragma once

#include <string>

#include "findings/report.h"

namespace blackout {

// Raised when a key changes its meaning or goes; new keys may come without.
constexpr int kReportSchema = 2;

// Ends with a newline. `failOn` decides the exit code that the report states.
std::string renderJson(const Report& report, FailOn failOn);

// One finding as it stands in a report's list.
std::string renderJson(const Finding& finding);

}  // namespace blackout
