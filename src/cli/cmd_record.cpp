// `blackout record`: runs a program once and keeps its trace.

#include <fmt/format.h>

#include <memory>

#include "cli/record_options.h"
#include "cli/subcommand.h"
#include "events/trace.h"
#include "findings/ending.h"
#include "findings/run_summary.h"
#include "report/escape.h"
#include "report/output_file.h"

namespace blackout::cli {

namespace {

struct Options {
  RecordOptions record;
};

Result<ExitCode> run(Options options, const ProgramCommand& program) {
  if (auto ok = takeProgram(options.record, program, "record"); !ok) return tl::unexpected(ok.error());
  if (options.record.tracePath.empty()) return fail("name the trace to write: -o FILE");
  if (options.record.tracePath == "-") return fail("-o -: a trace needs a file; name one");
  if (auto ok = OutputFile::prepare(options.record.tracePath, "-o"); !ok) return tl::unexpected(ok.error());
  auto recording = record(options.record);
  if (!recording) return tl::unexpected(recording.error());
  const Trace& trace = *recording->trace;

  Report report;
  report.notes = recording->notes;
  report.incomplete = recording->incomplete;
  if (!recording->unseenReason.empty()) report.notes.push_back(recording->unseenReason);
  summarise(trace, report);
  // A program that failed by itself was still recorded whole.
  if (std::string ending = endingText(recording->waitStatus); !ending.empty())
    report.notes.push_back(fmt::format("The program itself ended with {}, without a simulated crash.", ending));
  for (const std::string& s : report.notes) fmt::print(stderr, "note: {}\n", escapeText(s));
  for (const std::string& s : report.incomplete) fmt::print(stderr, "inconclusive: {}\n", escapeText(s));
  fmt::print(stderr, "blackout: {} events in {}\n", trace.eventCount(), escapeText(recording->tracePath));
  return report.complete() ? ExitCode::Clean : ExitCode::Inconclusive;
}

const Register registered({
    .name = "record",
    .summary = "run a program once and keep its trace",
    .synopsis = "blackout record --pm POOL -o TRACE [OPTIONS] -- PROGRAM [ARGS]",
    .details =
        "The program works on private copies of its pools. 'blackout check --from-trace TRACE' judges the trace, "
        "'blackout trace TRACE' prints it.",
    .declare = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      declareRecordOptions(app, o->record);
      app.add_option("-o,--output", o->record.tracePath, "the trace to write")->type_name("TRACE");
      return [o](const ProgramCommand& program) { return run(*o, program); };
    },
});

}  // namespace

}  // namespace blackout::cli
