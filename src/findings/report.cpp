#include "findings/report.h"

#include <algorithm>

namespace blackout {

std::array<std::uint64_t, 3> countBySeverity(const Report& report) {
  std::array<std::uint64_t, 3> counts{};
  for (const Finding& f : report.findings) ++counts[static_cast<std::size_t>(f.severity)];
  return counts;
}

ExitCode exitCodeOf(const Report& report, FailOn failOn) {
  bool failing = std::any_of(report.findings.begin(), report.findings.end(),
                             [&](const Finding& f) { return f.severity <= failOn; });
  if (failing) return ExitCode::Findings;
  return report.complete() ? ExitCode::Clean : ExitCode::Inconclusive;
}

}  // namespace blackout
