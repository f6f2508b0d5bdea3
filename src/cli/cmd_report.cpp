// `blackout report`: a report that was kept as JSON, as a page; the runs of a folder, as a list.

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/subcommand.h"
#include "report/output_file.h"
#include "report/page.h"
#include "report/run_index.h"
#include "report/saved_report.h"

namespace blackout::cli {

namespace {

struct Options {
  std::string file;
  std::string output;  // empty: report.html, in a run's folder or here
};

// The runs of a folder of --out.
Result<ExitCode> list(const std::string& folder) {
  auto index = RunIndex::open(folder, false);
  if (!index) return tl::unexpected(index.error());
  auto runs = index->runs();
  if (!runs) return tl::unexpected(runs.error());
  fmt::print("{}", renderRuns(*runs));
  return ExitCode::Clean;
}

Result<ExitCode> run(Options options) {
  if (options.file.empty()) return fail("name a report: blackout report report.json");
  if (RunIndex::isIn(options.file)) return list(options.file);
  std::error_code ignored;
  bool folder = std::filesystem::is_directory(options.file, ignored);
  if (options.output.empty()) options.output = folder ? options.file + "/report.html" : "report.html";
  auto text = readReportText(options.file, "");
  if (!text) return tl::unexpected(text.error());
  auto page = renderPage(*text, options.file);
  if (!page) return tl::unexpected(page.error());
  auto file = OutputFile::prepare(options.output, "--output");
  if (!file) return tl::unexpected(file.error());
  if (auto ok = file->write(*page); !ok) return tl::unexpected(ok.error());
  return ExitCode::Clean;
}

const Register registered({
    .name = "report",
    .summary = "make a page of a report, or list the runs that were kept",
    .synopsis = "blackout report FILE.json [--output FILE]\n"
                "blackout report FOLDER/latest\n"
                "blackout report FOLDER",
    .details =
        "FILE.json is a report that 'blackout check --json' wrote; FOLDER/latest is a run's folder (--out FOLDER). The "
        "page is one file that needs no network: an "
        "overview, "
        "and for each finding its places in the source, what happened, the bytes, the fix. The lines of the source "
        "are taken as they are now. 'blackout check --html' writes the same at once.\n\n"
        "FOLDER alone, as --out names it, lists its runs: when each began, its command and verdict, and how many of "
        "its "
        "findings are new since the run of the same command before. It reads FOLDER/index.db, an SQLite database with "
        "a "
        "row for each run and each finding.",
    .declare = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      app.add_option("FILE", o->file, "the report");
      app.add_option(
             "-o,--output", o->output,
             "where the page goes; report.html by default, in a run's folder if that is named; -: standard output")
          ->type_name("FILE");
      return [o](const ProgramCommand&) { return run(*o); };
    },
});

}  // namespace

}  // namespace blackout::cli
