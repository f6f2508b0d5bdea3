// The report for code scanning: SARIF 2.1.0, within the limits of those who take it (docs/ci.md). A kind of finding is
// a rule, a finding a result with its fingerprint, and its numbered places are the steps of a code flow: writer, crash,
// reader.
#pragma once

#include <string>

#include "findings/report.h"

namespace blackout {

// Results beyond that are counted and left out, the least bad ones: code scanning shows no more.
constexpr std::size_t kMostSarifResults = 5000;

// `root`: paths below it are relative to it; others are given as they are.
std::string renderSarif(const Report& report, FailOn failOn, const std::string& root);

}  // namespace blackout
