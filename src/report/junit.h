// The report for whoever collects test results: JUnit's XML. The check as a whole is a test case, and each finding is
// one; those that make the command fail are failures, an inconclusive result is an error.
#pragma once

#include <string>

#include "findings/report.h"

namespace blackout {

std::string renderJunit(const Report& report, FailOn failOn, const std::string& root);

}  // namespace blackout
