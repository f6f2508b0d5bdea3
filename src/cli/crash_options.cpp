#include "cli/crash_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <thread>

#include "cli/record_options.h"
#include "cli/words.h"
#include "lin/structure.h"
#include "report/finding_files.h"
#include "run/launch.h"

namespace blackout::cli {

namespace fs = std::filesystem;

namespace {

Result<ExpectExit> expectExitNamed(const std::string& text) {
  if (text == "auto") return ExpectExit::Auto;
  if (text == "zero") return ExpectExit::Zero;
  if (text == "any") return ExpectExit::Any;
  return fail(fmt::format("--expect-exit {}: it is auto, zero or any", text));
}

// pmreorder's contract: the pool's file name is the checker's last argument.
Result<void> appendPool(std::vector<std::string>& command, const std::vector<std::string>& pm) {
  if (pm.size() != 1 || pm[0].find_first_of("*?[") != std::string::npos || fs::is_directory(pm[0]))
    return fail("--checker gets the pool's file name as its last argument, so --pm must name one file");
  command.push_back(pm[0]);
  return {};
}

// The command that is started instead of the program. That it can't be followed is said before anything runs.
Result<void> takeRestart(CrashOptions& o, const CrashWords& w, const std::vector<std::string>& pm) {
  std::string option = o.checker ? "--checker" : "--recover";
  auto words = splitWords(o.checker ? w.checker : w.recover, option);
  if (!words) return tl::unexpected(words.error());
  if (o.checker)
    if (auto ok = appendPool(*words, pm); !ok) return ok;
  auto path = findProgram(words->front(), "of " + option);
  if (!path) return tl::unexpected(path.error());
  if (auto ok = checkLoadable(*path); !ok) return tl::unexpected(ok.error());
  o.program.command = std::move(*words);
  return {};
}

// Gives the restarts their client: `recorded` unless another is named; empty: they have none.
Result<void> takeRestartClient(CrashOptions& o, const CrashWords& w, std::vector<std::string> recorded) {
  if (!w.recoverDrive.empty()) {
    auto words = splitWords(w.recoverDrive, "--recover-drive");
    if (!words) return tl::unexpected(words.error());
    if (auto ok = takeClient(*words, "--recover-drive"); !ok) return tl::unexpected(ok.error());
    recorded = std::move(*words);
  }
  if (recorded.empty()) return {};
  constexpr std::size_t kLongest = 8000;  // of the runtime's options
  RuntimeOptions client;
  client.client(recorded);
  if (client.text().size() > kLongest || recorded.size() >= 500)
    return fail(
        fmt::format("{} ...: the command of a client is too long for restarts; put it into a script", recorded[0]));
  o.program.options.append(client);
  return {};
}

// The library's own words for a number that is too small name the largest one there is.
CLI::Validator atLeastOne() {
  return CLI::Validator(
      [](std::string& text) {
        const char* end = text.data() + text.size();
        std::uint64_t n = 0;
        auto [stop, error] = std::from_chars(text.data(), end, n);
        return error == std::errc() && stop == end && n >= 1 ? "" : "it is a whole number, 1 or more";
      },
      "");
}

CLI::Validator moreThanZero() {
  return CLI::Validator(
      [](std::string& text) {
        double n = 0;
        return CLI::detail::lexical_cast(text, n) && n > 0 && n < 1e9 ? "" : "it is a number of seconds, more than 0";
      },
      "");
}

CLI::Validator command() {
  return CLI::Validator(
      [](std::string& text) {
        return text.find_first_not_of(" \t\n") != std::string::npos
                   ? ""
                   : "an empty command; name a program and its arguments";
      },
      "");
}

}  // namespace

void declareCrashOptions(CLI::App& app, CrashWords& w) {
  app.add_flag("--no-explore", w.noExplore, "only judge the recorded run; simulate no crash");
  app.add_option("--recover", w.recover,
                 "what is started after a crash instead of the program itself, to ask for what the pool should hold: "
                 "'./mapcli btree pool' with --recover-stdin, say; quotes as in a shell, but no shell is run")
      ->type_name("COMMAND")
      ->check(command());
  app.add_option(
         "--checker", w.checker,
         "a command that judges the pool after a crash: its last argument is the pool's file name, it exits with 0 "
         "if the pool is consistent (as for pmreorder)")
      ->type_name("COMMAND")
      ->check(command());
  app.add_option("--recover-stdin", w.recoverStdin, "standard input of every restart: its questions; empty by default")
      ->type_name("FILE");
  app.add_option("--recover-drive", w.recoverDrive,
                 "the command that talks to each restart, as --drive talks to the recorded run; by default the same, "
                 "unless --recover or --checker names another program. It fails if it exits with a code other than 0, "
                 "sees files and network as the restart does, and what it changes is gone afterwards")
      ->type_name("COMMAND")
      ->check(command());
  app.add_option("--jobs,-j", w.jobs, "how many restarts run at the same time; all cores by default")
      ->type_name("N")
      ->check(atLeastOne());
  app.add_option("--failures", w.crashesInARow, "crashes in a row: 2 crashes the restarts too")
      ->type_name("N")
      ->check(CLI::Validator(
          [](std::string& text) { return CLI::Range(1, 8)(text).empty() ? "" : "it is a number from 1 to 8"; }, ""));
  app.add_option("--strategy", w.strategy, "which of the states that a crash may leave are tried. " + strategyHelp())
      ->type_name("NAME");
  app.add_option("--assume", w.assume,
                 "checksums: a record of many lines that a restart reads whole counts as checksummed, even if "
                 "combinations of lost lines lead to different results; otherwise the result is inconclusive where "
                 "not all combinations were tried")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"checksums"}));
  app.add_option("--seed", w.seed, "seed of what is chosen at random")->type_name("N");
  app.add_option(
         "--points", w.points,
         "where the power fails: enough (default), all, a number of evenly spaced points, or events as 100-200,512")
      ->type_name("POINTS");
  app.add_option("--from", w.from, "only from this operation on (blackout_op_begin, numbered from 0)")->type_name("OP");
  app.add_option("--to", w.to, "only up to the end of this operation")->type_name("OP");
  app.add_flag("--no-tree", w.noTree, "explore each point on its own; for comparison, it finds the same");
  app.add_option("--time", w.seconds, "stop exploring after this many seconds")
      ->type_name("SECONDS")
      ->check(moreThanZero());
  app.add_option("--max-runs", w.maxRuns, "stop exploring after this many restarts; to name causes takes a few more")
      ->type_name("N")
      ->check(atLeastOne());
  app.add_option("--infer-time", w.inferSeconds,
                 "seconds of processor time to look for arrays and counters that must change together, whose crash "
                 "states come first "
                 "under --time or --max-runs; 0: not at all")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber);
  app.add_option(
         "--steps", w.limits.steps,
         "accesses to persistent memory after which a restart counts as hanging; 128 turns of loops in compiled code "
         "count as one where nothing new is read")
      ->type_name("N")
      ->check(atLeastOne());
  app.add_option("--run-timeout", w.limits.seconds,
                 "seconds after which a restart is ended; nothing is concluded from that")
      ->type_name("SECONDS")
      ->check(atLeastOne());
  app.add_option(
         "--run-memory", w.limits.mebibytes,
         "memory that a restart may take besides its pools, in MiB; one that takes more only after a crash is a "
         "finding")
      ->type_name("MIB")
      ->check(atLeastOne());
  app.add_option(
         "--resume", w.resume,
         "continue an exploration that was ended early, from the file that it left, or the run's folder (--out)")
      ->type_name("FILE");
  app.add_option("--findings", w.findings,
                 "folder for the findings' replay files, created if there are any; blackout-findings by default")
      ->type_name("FOLDER");
  app.add_option("--heap", w.heap, "take the program's own heap for persistent memory, of this many MiB")
      ->type_name("MIB")
      ->check(atLeastOne());
  app.add_option("--heap-fill", w.heapFill,
                 "the byte that fresh memory of that heap is filled with, so that a lost store of zero shows; 0x11 by "
                 "default. calloc gives zeros")
      ->type_name("BYTE")
      ->check(CLI::Validator(
          [](std::string& text) { return CLI::Range(0, 255)(text).empty() ? "" : "it is a number from 0 to 255"; }, ""))
      ->needs("--heap");
  app.add_flag("--no-pin", w.noPin, "let restarts see the real time, process numbers and random numbers");
  app.add_option(
         "--expect-exit", w.expectExit,
         "what restarts must exit with: zero; any (exit codes are ignored, the recorded run's too); or auto "
         "(default): zero, if the recorded run and a restart on what it left exit with 0, else nothing is concluded")
      ->type_name("CODE");
  app.add_option("--criterion", w.criterion,
                 "how answers of marked operations are judged where their specification is known: durable (default; an "
                 "operation that a crash interrupts takes effect at any later time, or never), strict (before the "
                 "crash, or never) or buffered (of each run, a part survives that has with every operation all that "
                 "happened before it)")
      ->type_name("NAME");
  app.add_flag("--loads-report", w.loadsReport,
               "list the restarted program's loads that may read from more than one store");
}

Result<StrategyChoice> strategyChoice(const CrashWords& w, bool mechanisms) {
  std::string_view text = !w.strategy.empty() ? std::string_view(w.strategy)
                                              : nameOf(mechanisms ? StrategyKind::Plans : StrategyKind::Lazy);
  auto choice = StrategyChoice::parse(text);
  if (!choice) return fail(fmt::format("--strategy {}: {}", text, choice.error().sentence));
  if (choice->kind == StrategyKind::Tests && w.crashesInARow > 1)
    return fail("--strategy tests: its tests are of one crash; leave out --failures, or the strategy");
  if (choice->kind == StrategyKind::Plans && !mechanisms)
    return fail("--strategy plans: plans are made from a description; name one with --mechanisms");
  choice->pairs = w.planPairs;
  if (choice->pairs && choice->kind != StrategyKind::Plans)
    return fail("--plan-pairs: the plans are those of --mechanisms; name a description");
  return choice;
}

Result<CrashOptions> crashOptions(const CrashWords& w, const RecordOptions& program) {
  CrashOptions o;
  const std::vector<std::string>& pm = program.pm;
  if (!w.recover.empty() && !w.checker.empty())
    return fail("--recover and --checker: only one command can be started after a crash; leave one out");
  o.program.command = program.command;
  o.checker = !w.checker.empty();
  bool another = !w.recover.empty() || o.checker;
  o.sameCommand = !another;
  if (another)
    if (auto ok = takeRestart(o, w, pm); !ok) return tl::unexpected(ok.error());
  if (auto ok = takeRestartClient(o, w, another ? std::vector<std::string>() : program.drive); !ok)
    return tl::unexpected(ok.error());
  auto patterns = canonicalPatterns(pm);
  if (!patterns) return tl::unexpected(patterns.error());
  o.program.patterns = std::move(*patterns);
  if (!w.recoverStdin.empty()) {
    if (access(w.recoverStdin.c_str(), R_OK) != 0)
      return fail(fmt::format("--recover-stdin {}: can't be read; name a file", w.recoverStdin));
    o.program.input = fs::absolute(w.recoverStdin).string();
  }
  if (w.noPin) o.program.options.set("pin", 0);
  if (w.heap != 0) o.program.options.set("heap", w.heap);
  std::error_code error;
  o.folder = fs::current_path(error).string();
  o.limits = w.limits;
  auto expect = expectExitNamed(w.expectExit);
  if (!expect) return tl::unexpected(expect.error());
  o.expectExit = *expect;
  auto criterion = criterionNamed(w.criterion);
  if (!criterion) return fail(fmt::format("--criterion {}: it is durable, strict or buffered", w.criterion));
  o.criterion = *criterion;
  auto points = parsePointChoice(w.points);
  if (!points) return tl::unexpected(points.error());
  o.points = std::move(*points);
  o.points.fromOp = w.from;
  o.points.toOp = w.to;
  o.crashesInARow = w.crashesInARow;
  o.seed = w.seed;
  o.tree = !w.noTree;
  o.jobs = w.jobs != 0 ? w.jobs : std::max(1U, std::thread::hardware_concurrency());
  o.seconds = w.seconds;
  o.maxRuns = w.maxRuns;
  o.inferSeconds = w.inferSeconds;
  o.assumeChecksums = w.assume == "checksums";
  o.loadsReport = w.loadsReport;
  o.resume = w.resume;
  // In a run's folder it has a name.
  if (fs::is_directory(o.resume, error)) o.resume = (fs::path(o.resume) / "resume").string();
  if (!o.resume.empty() && !fs::exists(o.resume, error))
    return fail(fmt::format("--resume {}: no such file; name the one that the exploration left", o.resume));
  o.saveTo = !o.resume.empty() ? o.resume : (fs::path(w.findings) / "resume").string();
  if (auto ok = checkFindingsFolder(w.findings, "--findings"); !ok) return tl::unexpected(ok.error());
  return o;
}

}  // namespace blackout::cli
