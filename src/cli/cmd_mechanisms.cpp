// `blackout mechanisms`: a first description of a program's consistency mechanisms, from one run.

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "binary/struct_layouts.h"
#include "cli/record_options.h"
#include "cli/subcommand.h"
#include "events/trace.h"
#include "mechanisms/propose.h"
#include "report/escape.h"
#include "run/recording.h"

namespace blackout::cli {

namespace {

struct Options {
  RecordOptions record;
  std::string fromTrace;
  bool propose = false;
};

Result<ExitCode> run(Options options, const ProgramCommand& program) {
  if (!options.propose)
    return fail("say --propose: a description is proposed from one run; 'blackout check --mechanisms FILE' checks one");
  std::optional<Recording> recording;
  std::vector<std::string> incomplete;
  if (options.fromTrace.empty()) {
    if (auto ok = takeProgram(options.record, program, "mechanisms"); !ok) return tl::unexpected(ok.error());
    options.record.outputToStandardError = true;
    auto made = record(options.record);
    if (!made) return tl::unexpected(made.error());
    recording = std::move(*made);
    options.fromTrace = recording->tracePath;
    incomplete = recording->incomplete;
    if (!recording->unseenReason.empty()) incomplete.push_back(recording->unseenReason);
  } else if (program.given) {
    return fail("--from-trace is of a run that is over; leave out the program after --");
  }
  auto trace = Trace::open(options.fromTrace);
  if (!trace) return tl::unexpected(trace.error());
  auto index = Index::build(*trace, ModelOptions());
  if (!index) return tl::unexpected(index.error());
  fmt::print("{}", renderProposals(proposeMechanisms(*index, StructLayouts::of(*trace))));
  for (const std::string& s : incomplete) fmt::print(stderr, "inconclusive: {}\n", escapeText(s));
  return incomplete.empty() ? ExitCode::Clean : ExitCode::Inconclusive;
}

const Register registered({
    .name = "mechanisms",
    .summary = "propose a description of a program's consistency mechanisms",
    .synopsis = "blackout mechanisms --propose --pm POOL [OPTIONS] -- PROGRAM [ARGS]\n"
                "blackout mechanisms --propose --from-trace TRACE",
    .details =
        "Runs the program once and looks for stores that are the entries of a journal (they have the old or the new "
        "bytes "
        "of a later write, beside its address), tails of a log, replicas, and pointers to what was just written. What "
        "is "
        "found is printed as TOML, for 'blackout check --mechanisms', with what supports it and what contradicts it: a "
        "guess, to be read before it is used. The program must be built with -g, for the names of its structs.",
    .declare = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      declareRecordOptions(app, o->record);
      app.add_flag("--propose", o->propose, "print a description");
      app.add_option("--from-trace", o->fromTrace, "of this trace, instead of running a program")->type_name("TRACE");
      return [o](const ProgramCommand& program) { return run(*o, program); };
    },
});

}  // namespace

}  // namespace blackout::cli
