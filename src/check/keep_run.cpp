#include "check/keep_run.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "events/saved_file.h"
#include "findings/numbers.h"
#include "judge/finding_replay.h"
#include "report/json.h"
#include "report/page.h"
#include "report/saved_report.h"
#include "report/text.h"

namespace blackout {

namespace {

// What the images of one run may take together; 'blackout replay --keep-pool' makes any of them.
constexpr std::uint64_t kMostImageBytes = std::uint64_t{1} << 30;

// The path of a replay file in the run's own folder; none: it is gone, with the run that had it.
std::optional<std::string> broughtHere(const std::string& path, const RunFolder& folder, std::size_t number) {
  std::string name = fmt::format("finding-{}/finding.blackout", number), here = folder.path() + "/" + name;
  if (path == here) return here;
  auto bytes = readWholeFile(path);
  if (!bytes || !folder.write(name, *bytes)) return std::nullopt;
  return here;
}

// The pools as the crash of a finding left them. Returns how many bytes they take.
Result<std::uint64_t> keepImage(const Finding& finding, const std::string& to, std::uint64_t most) {
  auto file = openReplay(*finding.replay);
  if (!file) return tl::unexpected(file.error());
  std::error_code error;
  std::filesystem::create_directories(to, error);
  auto bytes = keepPools(*file, to, most);
  if (bytes && *bytes > most) std::filesystem::remove(to, error);
  return bytes;
}

}  // namespace

Result<void> keepRun(const RunFolder& folder, Report report, FailOn failOn, const std::string& root) {
  for (std::size_t i = 0; i < report.findings.size(); ++i)
    if (Finding& f = report.findings[i]; f.replay) f.replay = broughtHere(*f.replay, folder, i + 1);
  TextOptions text;
  text.root = root;
  text.detail = Detail::Verbose;
  Result<void> all;
  auto keep = [&](const std::string& name, const Result<std::string>& content) {
    auto done = content ? folder.write(name, *content) : Result<void>(tl::unexpected(content.error()));
    if (all && !done) all = done;
  };
  std::string json = renderJson(report, failOn);
  keep("report.txt", renderText(report, text));
  keep("report.json", json);
  keep("report.html", renderPage(json, "the report"));
  keep(kKeptReport, packReport(report, folder.path()));
  std::uint64_t left = kMostImageBytes, without = 0;
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const Finding& f = report.findings[i];
    std::string name = fmt::format("finding-{}/", i + 1);
    keep(name + "finding.txt", findingLine(f, root) + "\n\n" + renderFinding(f, text));
    keep(name + "finding.json", renderJson(f));
    if (!f.replay) continue;
    auto bytes = keepImage(f, folder.path() + "/" + name + "pools", left);
    if (!bytes && all) all = tl::unexpected(bytes.error());
    if (bytes && *bytes <= left)
      left -= *bytes;
    else
      ++without;
  }
  if (all && without != 0)
    keep("no-image.txt", fmt::format("The images of {} are not kept, as they take more than {} MiB; 'blackout replay "
                                     "--keep-pool' makes them.\n",
                                     counted(without, "finding"), kMostImageBytes >> 20));
  auto done = folder.finish(report, failOn);
  return all ? done : all;
}

}  // namespace blackout
