#include "report/saved_report.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "events/byte_stream.h"
#include "events/saved_file.h"
#include "findings/report_bytes.h"
#include "report/escape.h"
#include "report/json_library.h"
#include "report/sentence_words.h"

namespace blackout {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr SavedFormat kKept{"BLKREPRT",
                            1,
                            std::uint64_t{4} << 30,
                            "report of a run",
                            "name a run's folder, which 'blackout check --out' made",
                            "make the run again"};

tl::unexpected<Error> refused(const std::string& path, const std::string& option, std::string_view why) {
  return fail(fmt::format("{}{}{}: {}; name a report that --json wrote, or a run's folder", option,
                          option.empty() ? "" : " ", path, why));
}

std::string textIn(const Json& j, const char* key) {
  auto at = j.is_object() ? j.find(key) : j.end();
  return j.is_object() && at != j.end() && at->is_string() ? at->get<std::string>() : std::string();
}
std::uint64_t numberIn(const Json& j, const char* key) {
  auto at = j.is_object() ? j.find(key) : j.end();
  return j.is_object() && at != j.end() && at->is_number_unsigned() ? at->get<std::uint64_t>() : 0;
}

// "log.c:62:5", of the first place that has a line in the source.
std::string positionOf(const Json& finding, const std::string& root) {
  auto places = finding.find("places");
  if (places != finding.end() && places->is_array())
    for (const Json& place : *places) {
      auto stack = place.is_object() ? place.find("stack") : place.end();
      if (!place.is_object() || stack == place.end() || !stack->is_array() || stack->empty()) continue;
      Frame frame;
      frame.file = textIn(stack->front(), "file");
      frame.line = static_cast<std::uint32_t>(numberIn(stack->front(), "line"));
      frame.column = static_cast<std::uint32_t>(numberIn(stack->front(), "column"));
      if (!frame.file.empty() && frame.line != 0) return positionText(frame, root);
    }
  return "blackout";
}

}  // namespace

Result<std::string> readReportText(const std::string& path, const std::string& option) {
  std::error_code error;
  std::string file = fs::is_directory(path, error) ? path + "/report.json" : path;
  constexpr std::uintmax_t kLargest = std::uintmax_t{256} << 20;
  std::uintmax_t size = fs::file_size(file, error);
  std::ifstream in(file, std::ios::binary);
  if (error || !in) return refused(file, option, "can't be read");
  if (size > kLargest) return refused(file, option, "is too large for a report");
  return std::string(std::istreambuf_iterator<char>(in), {});
}

Result<SavedReport> readSavedReport(const std::string& path, const std::string& option) {
  auto text = readReportText(path, option);
  if (!text) return tl::unexpected(text.error());
  Json j = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!j.is_object() || !j.contains("findings") || !j["findings"].is_array())
    return refused(path, option, "is no report as JSON");
  SavedReport report;
  report.complete = j.contains("complete") && j["complete"].is_boolean() && j["complete"].get<bool>();
  if (j.contains("command") && j["command"].is_array())
    for (const Json& word : j["command"])
      if (word.is_string()) report.command.push_back(word.get<std::string>());
  if (j.contains("counts"))
    for (const char* key : {"hidden_by_only", "suppressed", "in_baseline"})
      report.leftOut += numberIn(j["counts"], key);
  std::error_code error;
  std::string root = fs::current_path(error).string();
  for (const Json& finding : j["findings"]) {
    SavedReport::Listed listed;
    listed.fingerprint = textIn(finding, "fingerprint");
    if (listed.fingerprint.empty()) return refused(path, option, "has a finding without a fingerprint");
    listed.severity = Severity::Performance;
    for (Severity s : {Severity::Shown, Severity::Suspected})
      if (textIn(finding, "severity") == nameOf(s)) listed.severity = s;
    std::string message = textIn(finding, "message");
    if (message.empty()) message = textIn(finding, "verdict");
    if (message.ends_with('.')) message.pop_back();
    listed.line = fmt::format("{}: {}: {} [{}]", positionOf(finding, root),
                              listed.severity == Severity::Shown ? "error" : "warning", escapeText(message),
                              escapeText(textIn(finding, "kind")));
    report.findings.push_back(std::move(listed));
  }
  return report;
}

Result<std::string> packReport(Report report, const std::string& folder) {
  for (Finding& f : report.findings)
    if (f.replay) f.replay = fs::path(*f.replay).lexically_relative(folder).string();
  ByteWriter out;
  out.fixed(reportShape());
  out.bytes(encodeReport({std::move(report), {}}));
  return packFile(kKept, out.take());
}

Result<Report> readKeptReport(const std::string& folder) {
  std::string path = folder + "/" + kKeptReport;
  auto bytes = readWholeFile(path);
  if (!bytes)
    return fail(
        fmt::format("{}: {}; name a run's folder, which 'blackout check --out' made", path, bytes.error().sentence));
  auto body = unpackFile(kKept, *bytes, path);
  if (!body) return tl::unexpected(body.error());
  ByteReader in(*body);
  auto shape = in.fixed<std::uint64_t>();
  if (in.ok() && shape != reportShape())
    return fail(
        fmt::format("{}: was written by another version of Blackout, whose reports can't be added up with "
                    "those of this one; make the run again",
                    path));
  auto kept = decodeReport(std::string_view(*body).substr(std::min(body->size(), sizeof shape)));
  if (!in.ok() || !kept) return damagedFile(kKept, path);
  for (Finding& f : kept->report.findings) {
    if (!f.replay) continue;
    // What the bytes say must not lead elsewhere.
    fs::path inside = fs::path(*f.replay).lexically_normal();
    if (inside.is_absolute() || inside.empty() || *inside.begin() == "..")
      f.replay.reset();
    else
      f.replay = (fs::path(folder) / inside).string();
  }
  return std::move(kept->report);
}

}  // namespace blackout
