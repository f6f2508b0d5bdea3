// `blackout merge`: one report of several runs.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/outputs.h"
#include "cli/subcommand.h"
#include "report/saved_report.h"

namespace blackout::cli {

namespace {

struct Options : OutputWords {
  std::vector<std::string> runs;
};

Result<ExitCode> run(const Options& options) {
  if (options.runs.empty()) return fail("name the runs: blackout merge runs/1 runs/2");
  Report sum;
  bool explored = false, commandsDiffer = false;
  for (const std::string& name : options.runs) {
    if (std::count(options.runs.begin(), options.runs.end(), name) > 1)
      return fail(fmt::format("{}: is named twice, and would count twice", name));
    auto report = readKeptReport(name);
    if (!report) return tl::unexpected(report.error());
    explored |= report->exploration.has_value();
    commandsDiffer |= &name != &options.runs.front() && report->command != sum.command;
    sum += *report;
  }
  // Whatever of it was not like that in one run is said by that run.
  if (commandsDiffer)
    sum.notes.emplace_back(
        "This is the sum of runs of different commands, of which the first is named; each finding is of one of them.");
  auto outputs = Outputs::prepare(options, explored ? FailOn::Proved : FailOn::Suspected);
  if (!outputs) return tl::unexpected(outputs.error());
  if (auto ok = outputs->makeFolder(options); !ok) return tl::unexpected(ok.error());
  return publish(sum, *outputs, "merge");
}

const Register registered({
    .name = "merge",
    .summary = "make one report of several runs",
    .synopsis = "blackout merge RUN... [OPTIONS]",
    .details =
        "Each RUN is a run's folder, which 'blackout check --out', 'lin --out' or 'fs --out' made: FOLDER/1. Findings "
        "with one cause become one, the worst of them, with their counts added; figures add up; what was not seen of "
        "one run was not seen of the sum. With --out the files that replay the findings are copied. Nothing is run. "
        "(Parts of a campaign are added up by 'blackout fs --merge'.)\n\n"
        "Exit codes as those of 'blackout check': 0 clean and complete, 1 findings at or above --fail-on, 2 wrong "
        "usage "
        "or unusable input, 3 inconclusive.",
    .declare = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      app.add_option("RUN", o->runs, "the runs' folders");
      app.add_option("--fail-on", o->failOn,
                     "exit with 1 for findings that are shown, proved, suspected or perf, or worse; by default proved "
                     "if crashes were explored, else suspected")
          ->type_name("SEVERITY");
      declareOutputOptions(app, *o);
      return [o](const ProgramCommand&) { return run(*o); };
    },
});

}  // namespace

}  // namespace blackout::cli
