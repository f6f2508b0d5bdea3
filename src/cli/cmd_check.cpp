// `blackout check`: the main job. Runs the program once (or takes a trace), lets the modules judge it and pull the
// plug on it, and renders what they found.

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "check/check.h"
#include "cli/check_words.h"
#include "cli/interrupt.h"
#include "cli/progress_line.h"
#include "cli/record_options.h"
#include "cli/subcommand.h"
#include "findings/numbers.h"
#include "report/escape.h"
#include "report/known_findings.h"

namespace blackout::cli {

namespace {

// What the options mean, checked before anything runs: a mistyped option must not cost a run.
struct Plan {
  CheckOptions check;
  Outputs outputs;
};

// "x86:nt-order=any,tso=off": the model's name, then its settings.
Result<ModelOptions> modelNamed(const std::string& text) {
  std::size_t colon = text.find(':');
  std::string settings = "model=" + text.substr(0, colon);
  if (colon != std::string::npos) settings += "," + text.substr(colon + 1);
  auto model = parseModelOptions(settings);
  if (!model) return fail(fmt::format("--model {}: {}", text, model.error().sentence));
  if (auto ready = checkReady(*model); !ready) return fail(fmt::format("--model {}: {}", text, ready.error().sentence));
  return model;
}

// Store buffers run with the program, so they are part of how it is recorded.
Result<void> takeBuffers(CheckOptions& check) {
  Schedule& schedule = check.record.schedule;
  if (!check.model.tso) {
    if (!schedule.buffers) return {};
    return fail(fmt::format("--schedule {}: store buffers are of --model x86:tso=on", schedule.text()));
  }
  if (!check.trace.empty())
    return fail("--model ...tso=on: store buffers run with the program; leave out --from-trace, and name it after --");
  if (!schedule.controlled())
    return fail("--model ...tso=on: what leaves a store buffer is part of the schedule; leave out --schedule system");
  if (check.record.trap == Trap::Never)
    return fail(
        "--model ...tso=on: what libc reads must be followed, so that it reads no old value; leave out "
        "--trap never");
  schedule = schedule.withBuffers();
  return {};
}

// A trace has no command: to explore it, one must be named.
bool explores(const CheckWords& options) {
  return !options.crash.noExplore && !(options.campaign && !options.campaign->merge.empty()) &&
         (options.fromTrace.empty() || !options.crash.recover.empty() || !options.crash.checker.empty());
}

Result<Plan> planOf(const CheckWords& options) {
  Plan plan;
  CheckOptions& check = plan.check;
  check.record = options.record;
  check.record.heap = options.crash.heap;
  check.record.heapFill = options.crash.heapFill;
  check.trace = options.fromTrace;
  if (explores(options)) {
    auto crash = crashOptions(options.crash, options.record);
    if (!crash) return tl::unexpected(crash.error());
    check.crash = std::move(*crash);
    check.crash->program.options.set(options.record.trap);
    if (!options.record.patches) check.crash->program.options.set("patches", 0);
    if (options.record.repBytes) check.crash->program.options.set("repbytes", 1);
  }
  auto outputs =
      Outputs::prepare(options, check.crash && options.mechanisms.empty() ? FailOn::Proved : FailOn::Suspected);
  if (!outputs) return tl::unexpected(outputs.error());
  plan.outputs = std::move(*outputs);
  auto model = modelNamed(options.model);
  if (!model) return tl::unexpected(model.error());
  check.model = *model;
  if (auto ok = takeBuffers(check); !ok) return tl::unexpected(ok.error());
  auto detect = parseDetectOptions(options.detect);
  if (!detect) return fail("--detect: " + detect.error().sentence);
  check.detect = std::move(*detect);
  auto only = OnlyFilter::make(options.only);
  if (!only) return tl::unexpected(only.error());
  check.only = std::move(*only);
  auto suppressions = Suppressions::read(options.suppressions);
  if (!suppressions) return tl::unexpected(suppressions.error());
  check.suppressions = std::move(*suppressions);
  check.readySuppressions = options.printSuppressions;
  if (!options.baseline.empty()) {
    auto known = readKnownFindings(options.baseline);
    if (!known) return tl::unexpected(known.error());
    check.known = std::move(*known);
  }
  // Who reads only text sees none of them.
  constexpr std::uint64_t kUsualEvents = 100;
  if (plan.outputs.json || plan.outputs.html || !options.out.empty())
    check.events = options.events.value_or(kUsualEvents);
  if (options.events && check.events != *options.events)
    return fail("--events: they are shown by --json, --html and --out; name one of these too");
  check.trust = options.trust;
  check.pmdk = options.pmdk;
  check.findings = options.crash.findings;
  check.schedules = options.schedules;
  check.threads = options.threads;
  check.preemptions = options.preemptions;
  check.campaign = options.campaign;
  check.scheduleSeed = options.crash.seed;
  if (check.schedules == 0) return fail("--schedules 0: at least one");
  constexpr std::uint64_t kMostSchedules = 10000;
  if (check.preemptions && check.schedules == 1) check.schedules = kMostSchedules;
  if (check.schedules > 1 && !options.fromTrace.empty())
    return fail("--schedules: a trace is of one schedule; leave out --from-trace, and name the program after --");
  if (check.schedules > 1 && !options.record.tracePath.empty())
    return fail("--schedules: there is a trace of each; leave out --trace");
  if (!options.mechanisms.empty()) {
    auto description = Description::read(options.mechanisms);
    if (!description) return fail("--mechanisms " + description.error().sentence);
    check.mechanisms = std::move(*description);
  }
  auto strategy = strategyChoice(options.crash, check.mechanisms.has_value());
  if (!strategy) return tl::unexpected(strategy.error());
  if (check.crash) check.crash->strategy = *strategy;
  check.anyExit = options.crash.expectExit == "any";
  check.record.outputToStandardError = plan.outputs.onStandardOutput();
  if (!options.record.tracePath.empty())
    if (auto ok = OutputFile::prepare(options.record.tracePath, "--trace"); !ok) return tl::unexpected(ok.error());
  std::error_code error;
  if (!options.record.keepPool.empty() && !std::filesystem::is_directory(options.record.keepPool, error))
    if (auto ok = OutputFile::prepare(options.record.keepPool, "--keep-pool"); !ok) return tl::unexpected(ok.error());
  if (auto ok = plan.outputs.makeFolder(options); !ok) return tl::unexpected(ok.error());
  if (plan.outputs.out) {
    check.findings = plan.outputs.out->path();
    check.replays = ReplayNames::Folders;
    if (check.crash && options.crash.resume.empty())
      check.crash->saveTo = (std::filesystem::path(check.findings) / "resume").string();
    if (check.campaign) {
      check.campaign->folder = check.findings + "/workloads";
      // A campaign that goes on from its results refers to the lists of operations of all runs before.
      plan.outputs.limits = {};
    }
  }
  return plan;
}

// Times differ from run to run, and a file should not: only somebody who waits is told.
void showEstimate(const CrashEstimate& e) {
  constexpr double kWorthSaying = 10;  // seconds
  if (isatty(STDERR_FILENO) != 1 && e.manySeconds < kWorthSaying) return;
  fmt::print(stderr, "{}; a restart takes {:.1f} ms; {} to {}, if they are like most\n", counted(e.points, "point"),
             e.secondsPerRun * 1000, durationText(e.fewSeconds), durationText(e.manySeconds));
}

// Runs the check with somebody who watches it, and who may interrupt it.
Result<Report> watched(CheckOptions options) {
  std::optional<Interrupt> interrupt;
  ProgressLine line(stderr);
  if (options.crash) {
    interrupt.emplace();
    options.crash->interrupt = &Interrupt::flag();
    options.crash->again = &Interrupt::again();
    options.crash->estimate = showEstimate;
    options.crash->progress = [&](const CrashProgress& p) {
      line.show({p.exploration.level, p.exploration.spacesDone, p.exploration.spaces, p.exploration.runs,
                 p.exploration.runsPerSecond, p.failingWays, p.exploration.seconds});
    };
  }
  if (options.campaign && options.crash) {
    options.crash->progress = nullptr;
    options.crash->estimate = nullptr;
    options.campaign->progress = [&](const Campaign::Progress& p) { line.show(progressText(p), p.seconds); };
  }
  auto report = check(options);
  line.clear();
  return report;
}

}  // namespace

Result<ExitCode> runCheck(CheckWords options, const ProgramCommand& program, const std::string& subcommand) {
  if (options.campaign && !options.campaign->merge.empty()) {
    if (program.given) return fail("--merge adds up what is kept; leave out the program after --");
  } else if (options.fromTrace.empty()) {
    if (auto ok = takeProgram(options.record, program, subcommand); !ok) return tl::unexpected(ok.error());
  } else if (program.given) {
    return fail("--from-trace judges a run that is over; leave out the program after --");
  } else if (!options.record.drive.empty()) {
    return fail(
        "--from-trace judges a run that is over; leave out --drive, or name a client of restarts: --recover-drive");
  }
  std::optional<CheckOptions::Corpus> corpus;
  if (!options.corpus.empty())
    corpus = {options.corpus, options.record.command, options.crash.seed, options.operations, options.corpusRuns};
  options.record.command.insert(options.record.command.end(), options.arguments.begin(), options.arguments.end());
  auto plan = planOf(options);
  if (!plan) return tl::unexpected(plan.error());
  plan->check.corpus = std::move(corpus);
  if (plan->check.crash) {
    plan->check.crash->needsSpecification = options.needsSpecification;
    plan->check.crash->stages = options.needsSpecification;
    plan->check.crash->showPoints = options.showPoints;
    plan->check.crash->judgeOrders = options.judgeOrders;
    plan->check.crash->generated = options.generated;
  }
  auto report = watched(plan->check);
  if (!report) return tl::unexpected(report.error());
  return publish(*report, plan->outputs, subcommand);
}

namespace {

std::string modelHelp() {
  std::string text = "the persistency model and its settings, as x86:nt-order=any. ";
  for (const ModelOptionHelp& option : modelOptionHelp()) {
    text += fmt::format("{}: ", option.name);
    std::string_view separator;
    for (const ModelOptionHelp::Choice& c : option.choices) {
      if (!c.ready) continue;
      text += fmt::format("{}{}{}", separator, c.text, c.isDefault ? " (default)" : "");
      separator = ", ";
    }
    text += ". ";
  }
  return text;
}

}  // namespace

void declareCheckOptions(CLI::App& app, CheckWords& o) {
  declareRecordOptions(app, o.record);
  app.add_option("--from-trace", o.fromTrace, "judge this trace instead of running a program")->type_name("TRACE");
  app.add_option("--trace", o.record.tracePath, "keep the trace here")->type_name("FILE");
  app.add_option("--schedules", o.schedules,
                 "let the program's threads take turns in so many ways, chosen by --seed, and check each run: findings "
                 "say under which schedule they came, shrunk to as few switches as still show them; before that, what "
                 "the first run lets suspect is tried; 1 by default")
      ->type_name("N");
  app.add_option("--preemptions", o.preemptions,
                 "all schedules that take the turn at most N times from a thread that could go on, instead of those of "
                 "a seed; no more than --schedules, 10000 by default")
      ->type_name("N");
  app.add_option("--only", o.only,
                 "only findings with a place in this file or folder of the source; may be given "
                 "more than once")
      ->type_name("PATH")
      ->allow_extra_args(false);
  app.add_option("--suppressions", o.suppressions,
                 "a file of findings not to report, kind:pattern on each line: a kind as in the report, or race, "
                 "semantic or performance; a function, a source file or a program file (the end of its path) with "
                 "* and ? for any; # begins a comment. May be given more than once")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_flag("--print-suppressions", o.printSuppressions,
               "end the report with the lines for --suppressions that would hide its findings");
  app.add_option("--trust", o.trust,
                 "assume that this library is right (its file name, the end of its path, or with * and ?): no "
                 "crash inside a call into it, one before it if it orders anything, and no findings about what it "
                 "does, nor about what it calls back; may be given more than once")
      ->type_name("OBJECT")
      ->allow_extra_args(false);
  app.add_flag("--pmdk", o.pmdk,
               "the program is built on PMDK: --trust for each of its libraries that it loads, with what that "
               "leaves out said in the report (above all a crash while a pool is created: make the pool "
               "beforehand). PMEM_IS_PMEM_FORCE=1 is set in any case, unless the variable is set already");
  app.add_option(
         "--fail-on", o.failOn,
         "exit with 1 for findings that are shown, proved (shown, or suspected with a restart that says what it "
         "should not), suspected or perf, or worse; by default proved if crashes are explored, else suspected")
      ->type_name("SEVERITY");
  declareCrashOptions(app, o.crash);
  app.add_option("--mechanisms", o.mechanisms,
                 "the program's consistency mechanisms (journals, logs, replicas, copy-on-write), described in TOML: "
                 "their rules are checked, and crashes are tried only where they don't protect (--strategy plans). "
                 "'blackout mechanisms' proposes a description; --fail-on is suspected then")
      ->type_name("FILE");
  app.add_flag("--plan-pairs", o.crash.planPairs, "with --mechanisms: plans for each two unprotected stores, too");
  app.add_option("--model", o.model, modelHelp())->type_name("MODEL");
  app.add_option("--detect", o.detect, detectHelp())->type_name("KIND,...")->delimiter(',')->allow_extra_args(false);
  declareOutputOptions(app, o);
  app.add_option("--events", o.events,
                 "with --json, --html or --out: how many events of the recorded run are shown around each finding, 100 "
                 "by default; 0: none, a large number: all")
      ->type_name("N");
  app.add_option("--baseline", o.baseline,
                 "an earlier report that --json wrote, or a run's folder: its findings are left out and counted, and "
                 "only what is new is "
                 "reported")
      ->type_name("FILE");
}

namespace {

const Register registered({
    .name = "check",
    .summary = "run a program once and report what a power failure could do to it",
    .synopsis = "blackout check --pm POOL [OPTIONS] -- PROGRAM [ARGS]\n"
                "blackout check --from-trace TRACE [OPTIONS]",
    .details =
        "Any dynamically linked program will do; one that is built with blackout-clang or blackout-clang++ is faster "
        "to check, and more can be said about it. It works on private copies of its pools. It is run once; then, for "
        "every point at which a power failure matters and everything that it may leave behind, it is started again, "
        "as if the machine had just come back. A restart that crashes, aborts, hangs, exits with a code other than 0, "
        "violates a blackout_expect() or triggers a sanitizer is a finding, with a file for 'blackout replay'. Other "
        "files are as they were before the run, and what a restart writes is gone afterwards.\n\n"
        "A restart must look at the data for anything to be said of it. A program that takes commands from its "
        "standard input gets an empty one after a crash; name the command that asks, and its questions:\n"
        "  blackout check --pm pool --recover './mapcli btree pool' --recover-stdin questions \\\n"
        "    -- ./mapcli btree pool < commands\n"
        "If no restart reads anything that the program stored, the result is inconclusive.\n\n"
        "The report goes to standard error. It begins with the verdict and a line for each finding, as compilers write "
        "them (FILE:LINE:COLUMN: error: ...; what is suspected, or only costs time, is a warning), and ends with a "
        "SUMMARY line. Exit codes: 0 clean and complete, 1 findings "
        "at or above --fail-on, 2 wrong usage or unusable input, 3 inconclusive (the report says why), 70 internal "
        "error.",
    .declare = [](CLI::App& app) -> Action {
      auto o = std::make_shared<CheckWords>();
      declareCheckOptions(app, *o);
      return [o](const ProgramCommand& program) { return runCheck(*o, program, "check"); };
    },
});

}  // namespace

}  // namespace blackout::cli
