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

Result<std::set<std::string>> readKnownFindings(const std::string& path) {
  constexpr std::uintmax_t kLargest = std::uintmax_t{256} << 20;
  std::error_code error;
  std::uintmax_t size = std::filesystem::file_size(path, error);
  std::ifstream in(path, std::ios::binary);
  if (error || !in) return refused(path, "can't be read");
  if (size > kLargest) return refused(path, "is too large for a report");
  auto report = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
  if (!report.is_object() || !report.contains("findings") || !report["findings"].is_array())
    return refused(path, "is no report as JSON");
  std::set<std::string> known;
  for (const auto& finding : report["findings"]) {
    auto id = finding.is_object() ? finding.find("fingerprint") : finding.end();
    if (!finding.is_object() || id == finding.end() || !id->is_string())
      return refused(path, "has a finding without a fingerprint");
    known.insert(id->get<std::string>());
  }
  return known;
}

void leaveOutKnown(Report& report, const std::set<std::string>& known) {
  std::size_t before = report.findings.size();
  std::erase_if(report.findings, [&](const Finding& f) { return known.contains(fingerprintText(f)); });
  report.hiddenAsKnown += before - report.findings.size();
}

}  // namespace blackout
