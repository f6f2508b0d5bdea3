// A report with a finding of every severity and every optional part, for golden tests.
#pragma once

#include "findings/report.h"

namespace blackout::test {

// `folder` is where the sources of the report's places are said to be.
Report sampleReport(const std::string& folder);

}  // namespace blackout::test
