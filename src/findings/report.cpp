#include "findings/report.h"

#include <algorithm>

namespace blackout {

bool ExploredCrashes::operator==(const ExploredCrashes&) const = default;
bool Report::operator==(const Report&) const = default;

std::array<std::uint64_t, 3> countBySeverity(const Report& report) {
  std::array<std::uint64_t, 3> counts{};
  for (const Finding& f : report.findings) ++counts[static_cast<std::size_t>(f.severity)];
  return counts;
}

std::string_view nameOf(FailOn failOn) {
  switch (failOn) {
    case FailOn::Shown:
      return nameOf(Severity::Shown);
    case FailOn::Proved:
      return "proved";
    case FailOn::Suspected:
      return nameOf(Severity::Suspected);
    case FailOn::Performance:
      return nameOf(Severity::Performance);
  }
  return {};
}

std::optional<FailOn> failOnNamed(std::string_view name) {
  if (name == "perf") return FailOn::Performance;
  for (FailOn f : {FailOn::Shown, FailOn::Proved, FailOn::Suspected, FailOn::Performance})
    if (nameOf(f) == name) return f;
  return std::nullopt;
}

// Run once more, its restart did not do it again, or was not run once more.
static bool unrepeated(const Finding& f) {
  return std::any_of(f.evidence.begin(), f.evidence.end(), [](const Fact& fact) {
    return std::holds_alternative<NotRepeated>(fact) || std::holds_alternative<NotRunAgain>(fact);
  });
}

bool fails(const Finding& f, FailOn failOn) {
  switch (failOn) {
    case FailOn::Shown:
      return f.severity == Severity::Shown;
    case FailOn::Proved:
      return f.severity == Severity::Shown || (f.shownBy && !unrepeated(f));
    case FailOn::Suspected:
      return f.severity <= Severity::Suspected;
    case FailOn::Performance:
      return true;
  }
  return true;
}

ExitCode exitCodeOf(const Report& report, FailOn failOn) {
  if (std::any_of(report.findings.begin(), report.findings.end(), [&](const Finding& f) { return fails(f, failOn); }))
    return ExitCode::Findings;
  return report.complete() ? ExitCode::Clean : ExitCode::Inconclusive;
}

}  // namespace blackout
