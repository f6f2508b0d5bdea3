// `blackout report`: a report that was kept as JSON, as a page.

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "cli/subcommand.h"
#include "report/output_file.h"
#include "report/page.h"

namespace blackout::cli {

namespace {

struct Options {
  std::string file;
  std::string output;  // empty: report.html, in a run's folder or here
};

Result<ExitCode> run(Options options) {
  if (options.file.empty()) return fail("name a report: blackout report report.json");
  std::error_code ignored;
  bool folder = std::filesystem::is_directory(options.file, ignored);
  if (options.output.empty()) options.output = folder ? options.file + "/report.html" : "report.html";
  if (folder) options.file += "/report.json";
  constexpr std::uintmax_t kLargest = std::uintmax_t{256} << 20;
  std::error_code error;
  std::uintmax_t size = std::filesystem::file_size(options.file, error);
  std::ifstream in(options.file, std::ios::binary);
  if (error || !in) return fail(fmt::format("{}: can't be read; name a report that --json wrote", options.file));
  if (size > kLargest) return fail(fmt::format("{}: is too large for a report", options.file));
  auto page = renderPage(std::string(std::istreambuf_iterator<char>(in), {}), options.file);
  if (!page) return tl::unexpected(page.error());
  auto file = OutputFile::prepare(options.output, "--output");
  if (!file) return tl::unexpected(file.error());
  if (auto ok = file->write(*page); !ok) return tl::unexpected(ok.error());
  return ExitCode::Clean;
}

const Register registered({
    .name = "report",
    .summary = "make a page of a report",
    .synopsis = "blackout report FILE.json [--output FILE]\n"
                "blackout report FOLDER/latest",
    .details =
        "FILE.json is a report that 'blackout check --json' wrote; FOLDER/latest is a run's folder (--out FOLDER). The "
        "page is one file that needs no network: an "
        "overview, "
        "and for each finding its places in the source, what happened, the bytes, the fix. The lines of the source "
        "are taken as they are now. 'blackout check --html' writes the same at once.",
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
