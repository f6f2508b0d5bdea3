#include "report/known_findings.h"

#include <algorithm>

#include "report/saved_report.h"

namespace blackout {

Result<KnownFindings> readKnownFindings(const std::string& path) {
  auto report = readSavedReport(path, "--baseline");
  if (!report) return tl::unexpected(report.error());
  KnownFindings known;
  for (const SavedReport::Listed& f : report->findings) {
    auto [it, fresh] = known.emplace(f.fingerprint, f.severity);
    if (!fresh) it->second = std::min(it->second, f.severity);
  }
  return known;
}

void leaveOutKnown(Report& report, const KnownFindings& known) {
  std::size_t before = report.findings.size();
  // What was only suspected then and is shown now is news.
  std::erase_if(report.findings, [&](const Finding& f) {
    auto it = known.find(fingerprintText(f));
    return it != known.end() && f.severity >= it->second;
  });
  report.hiddenAsKnown += before - report.findings.size();
}

}  // namespace blackout
