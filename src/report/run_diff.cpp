#include "report/run_diff.h"

#include <fmt/format.h>

#include <map>

#include "findings/numbers.h"

namespace blackout {

RunDiff compare(const SavedReport& before, const SavedReport& now) {
  auto byFingerprint = [](const SavedReport& report) {
    std::map<std::string, Severity> all;
    for (const SavedReport::Listed& f : report.findings) {
      auto [at, isNew] = all.emplace(f.fingerprint, f.severity);
      if (!isNew) at->second = std::min(at->second, f.severity);
    }
    return all;
  };
  std::map<std::string, Severity> then = byFingerprint(before), today = byFingerprint(now);
  RunDiff diff;
  for (const SavedReport::Listed& f : now.findings) {
    auto at = then.find(f.fingerprint);
    (at == then.end() || f.severity < at->second ? diff.fresh : diff.still).push_back(f);
  }
  for (const SavedReport::Listed& f : before.findings)
    if (!today.contains(f.fingerprint)) diff.gone.push_back(f);
  diff.conclusive = now.complete;
  if (!now.complete)
    diff.notes.emplace_back(
        "The second run is inconclusive: what is not found in it may only not have been looked at.");
  if (!before.complete)
    diff.notes.emplace_back("The first run is inconclusive: what is new may have been there already.");
  auto leftOut = [&](const SavedReport& report, std::string_view which) {
    if (report.leftOut != 0)
      diff.notes.push_back(
          fmt::format("The {} run left out {} (--only, suppressions or a baseline), which {} compared.", which,
                      counted(report.leftOut, "finding"), report.leftOut == 1 ? "is not" : "are not"));
  };
  leftOut(before, "first");
  leftOut(now, "second");
  if (before.command != now.command) diff.notes.emplace_back("The two runs are of different commands.");
  return diff;
}

std::string renderDiff(const RunDiff& diff) {
  std::string out = fmt::format("{} new, {} not found any more, {} still there\n", diff.fresh.size(), diff.gone.size(),
                                diff.still.size());
  auto list = [&](std::string_view head, const std::vector<SavedReport::Listed>& findings) {
    for (const SavedReport::Listed& f : findings) out += fmt::format("{} {}\n", head, f.line);
  };
  list("new:  ", diff.fresh);
  list("gone: ", diff.gone);
  list("still:", diff.still);
  for (const std::string& note : diff.notes) out += "note: " + note + "\n";
  return out;
}

ExitCode exitCodeOf(const RunDiff& diff) {
  if (!diff.fresh.empty()) return ExitCode::Findings;
  return diff.conclusive ? ExitCode::Clean : ExitCode::Inconclusive;
}

}  // namespace blackout
