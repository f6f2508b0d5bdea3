#include "cli/outputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "check/keep_run.h"
#include "report/escape.h"
#include "report/json.h"
#include "report/junit.h"
#include "report/page.h"
#include "report/sarif.h"

namespace blackout::cli {

namespace {

Result<void> prepareFile(std::optional<OutputFile>& file, const std::string& path, const std::string& option) {
  if (path.empty()) return {};
  auto prepared = OutputFile::prepare(path, option);
  if (!prepared) return tl::unexpected(prepared.error());
  file = std::move(*prepared);
  return {};
}

// False: standard error can't be written.
bool say(const std::string& text) { return std::fwrite(text.data(), 1, text.size(), stderr) == text.size(); }

}  // namespace

void declareOutputOptions(CLI::App& app, OutputWords& o) {
  app.add_option("--json", o.json,
                 "write the report as JSON too; -: to standard output, and the program's own "
                 "output to standard error")
      ->type_name("FILE");
  app.add_option("--sarif", o.sarif, "write the report as SARIF 2.1.0 too, for code scanning; -: to standard output")
      ->type_name("FILE");
  app.add_option("--junit", o.junit, "write the report as JUnit's XML too; -: to standard output")->type_name("FILE");
  app.add_option(
         "--html", o.html,
         "write the report as a page too, one file that needs no network; 'blackout report' makes one of a JSON "
         "report")
      ->type_name("FILE");
  app.add_option(
         "--out", o.out,
         "keep everything in a new folder in this one, 1, 2 and so on: the report as text, JSON and page, and for each "
         "finding a folder with its text, its JSON, the file that replays it and the pools as the crash left them; "
         "'latest' leads to the last. 'blackout report FOLDER' lists them, 'blackout diff' compares two")
      ->type_name("FOLDER");
  app.add_option("--keep-runs", o.keepRuns,
                 "with --out: how many runs stay in its folder, 100 by default; the oldest are removed, which is said. "
                 "0: all")
      ->type_name("N");
  app.add_option("--keep-mib", o.keepMib,
                 "with --out: how much they may take on the disk, 4096 MiB by default; 0: any amount")
      ->type_name("MIB");
  app.add_option("--report", o.report, "write the report to this file instead of standard error")->type_name("FILE");
  app.add_flag("-q,--quiet", o.quiet,
               "report only the verdict, a line for each finding, and what makes the result inconclusive");
  app.add_flag("-v,--verbose", o.verbose,
               "report more of the source and of the calls, what each kind of finding means, and the limits of every "
               "result");
}

Result<Outputs> Outputs::prepare(const OutputWords& words, FailOn failOn) {
  Outputs o;
  o.failOn = failOn;
  if (!words.failOn.empty()) {
    auto named = failOnNamed(words.failOn);
    if (!named)
      return fail(fmt::format("--fail-on={}: no such severity; it is shown, proved, suspected or perf", words.failOn));
    o.failOn = *named;
  }
  if (words.quiet && words.verbose) return fail("--quiet and --verbose: leave one out");
  if (words.quiet) o.detail = Detail::Quiet;
  if (words.verbose) o.detail = Detail::Verbose;
  if (auto ok = prepareFile(o.json, words.json, "--json"); !ok) return tl::unexpected(ok.error());
  if (auto ok = prepareFile(o.report, words.report, "--report"); !ok) return tl::unexpected(ok.error());
  if (auto ok = prepareFile(o.sarif, words.sarif, "--sarif"); !ok) return tl::unexpected(ok.error());
  if (auto ok = prepareFile(o.junit, words.junit, "--junit"); !ok) return tl::unexpected(ok.error());
  if (auto ok = prepareFile(o.html, words.html, "--html"); !ok) return tl::unexpected(ok.error());
  int onOutput = 0;
  for (const auto* file : {&o.json, &o.sarif, &o.junit}) onOutput += *file && (*file)->isStandardOutput();
  if (onOutput > 1) return fail("--json, --sarif and --junit: only one of them can go to standard output");
  constexpr std::uint64_t kMiB = 1 << 20, kMost = UINT64_MAX / kMiB;
  o.limits = {words.keepRuns, std::min(words.keepMib, kMost) * kMiB};
  return o;
}

Result<void> Outputs::makeFolder(const OutputWords& words) {
  if (words.out.empty()) return {};
  auto folder = RunFolder::make(words.out);
  if (!folder) return tl::unexpected(folder.error());
  out = std::move(*folder);
  return {};
}

bool Outputs::onStandardOutput() const {
  for (const auto* file : {&json, &sarif, &junit})
    if (*file && (*file)->isStandardOutput()) return true;
  return false;
}

ExitCode publish(const Report& report, const Outputs& o, const std::string& command) {
  TextOptions text;
  text.detail = o.detail;
  std::error_code error;
  text.root = std::filesystem::current_path(error).string();
  bool all = true;
  auto count = [&](const Result<void>& done) {
    if (!done) say(fmt::format("blackout {}: {}\n", command, escapeText(done.error().sentence)));
    all &= done.has_value();
  };
  Result<void> written;
  if (o.report) written = o.report->write(renderText(report, text));
  if (o.report && written) {
    all &= say(summaryLine(report) + "\n");
  } else {
    text.color = wantsColor(STDERR_FILENO);
    all &= say(renderText(report, text));
  }
  count(written);
  if (o.json) count(o.json->write(renderJson(report, o.failOn)));
  if (o.sarif) count(o.sarif->write(renderSarif(report, o.failOn, text.root)));
  if (o.junit) count(o.junit->write(renderJunit(report, o.failOn, text.root)));
  if (o.out) {
    count(keepRun(*o.out, report, o.failOn, text.root));
    auto removed = o.out->removeOldest(o.limits);
    if (!removed)
      count(tl::unexpected(removed.error()));
    else if (!removed->empty())
      say(fmt::format("blackout {}: {}\n", command, escapeText(*removed)));
  }
  if (o.html) {
    auto page = renderPage(renderJson(report, o.failOn), "the report");
    count(page ? o.html->write(*page) : Result<void>(tl::unexpected(page.error())));
  }
  ExitCode code = exitCodeOf(report, o.failOn);
  return code == ExitCode::Clean && !all ? ExitCode::Inconclusive : code;
}

}  // namespace blackout::cli
