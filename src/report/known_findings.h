// `--baseline FILE`: findings that an earlier report has, as JSON, are left out and counted, so that only what is new
// is told. They are recognised by their fingerprints.
#pragma once

#include <set>
#include <string>

#include "events/error.h"
#include "findings/report.h"

namespace blackout {

// The fingerprints in a report that `--json` wrote.
Result<std::set<std::string>> readKnownFindings(const std::string& path);

void leaveOutKnown(Report& report, const std::set<std::string>& known);

}  // namespace blackout
