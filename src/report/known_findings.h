// `--baseline FILE`: findings that an earlier report has, as JSON, are left out and counted, so that only what is new
// is told. They are recognised by their fingerprints.
#pragma once

#include <map>
#include <string>

#include "events/error.h"
#include "findings/report.h"

namespace blackout {

// The fingerprints in a report that `--json` wrote, or in a run's folder, each with the worst that was said of it.
using KnownFindings = std::map<std::string, Severity>;
Result<KnownFindings> readKnownFindings(const std::string& path);

void leaveOutKnown(Report& report, const KnownFindings& known);

}  // namespace blackout
