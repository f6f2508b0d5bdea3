#include "report/known_findings.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "findings/numbers.h"
#include "report/json_library.h"

namespace blackout {

namespace {

tl::unexpected<Error> refused(const std::string& path, std::string_view why) {
  return fail(fmt::format("--baseline {}: {}; name a report that --json wrote", path, why));
}

}  // namespace

Result<KnownFindings> readKnownFindings(const std::string& path) {
  constexpr std::uintmax_t kLargest = std::uintmax_t{256} << 20;
  std::error_code error;
  std::uintmax_t size = std::filesystem::file_size(path, error);
  std::ifstream in(path, std::ios::binary);
  if (error || !in) return refused(path, "can't be read");
  if (size > kLargest) return refused(path, "is too large for a report");
  auto report = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object() || !report.contains("findings") || !report["findings"].is_array())
    return refused(path, "is no report as JSON");
  KnownFindings known;
  for (const auto& finding : report["findings"]) {
    auto id = finding.is_object() ? finding.find("fingerprint") : finding.end();
    if (!finding.is_object() || id == finding.end() || !id->is_string())
      return refused(path, "has a finding without a fingerprint");
    Severity severity = Severity::Performance;
    std::string said = finding.value("severity", "");
    for (Severity s : {Severity::Shown, Severity::Suspected})
      if (said == nameOf(s)) severity = s;
    auto [it, fresh] = known.emplace(id->get<std::string>(), severity);
    if (!fresh) it->second = std::min(it->second, severity);
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
