// `blackout infer`: which persistent fields a program trusts, what they guard and why.

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <thread>

#include "cli/record_options.h"
#include "cli/subcommand.h"
#include "events/trace.h"
#include "findings/ending.h"
#include "infer/analysis.h"
#include "infer/compile.h"
#include "infer/likely_commits.h"
#include "report/escape.h"
#include "report/infer_text.h"
#include "run/launch.h"
#include "run/private_pools.h"
#include "run/recording.h"

namespace blackout::cli {

namespace {

struct Options {
  std::vector<std::string> files;
  RecordOptions record;
  std::string trace;
  InferOptions infer;
  InferText text;
  bool json = false;
};

// Sources that have yet to be compiled: a compilation database's, and bitcode that no wrapper prepared.
Result<void> compile(ProgramBitcode& program, std::vector<CompileJob> jobs) {
  for (const std::string& path : std::exchange(program.unprepared, {})) jobs.push_back(jobForBitcode(path));
  if (jobs.empty()) return {};
  auto folder = PrivateFolder::make(PrivateFolder::InMemory);
  if (!folder) return tl::unexpected(folder.error());
  std::error_code error;
  Compilation how;
  how.wrappers = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  how.folder = folder->path();
  how.jobs = std::max(1u, std::thread::hardware_concurrency());
  const bool terminal = isatty(STDERR_FILENO) != 0;
  how.progress = [&](std::size_t done, std::size_t of) {
    if (terminal) fmt::print(stderr, "\rcompiled {} of {}{}", done, of, done == of ? "\r\033[K" : "");
  };
  return addCompiled(program, jobs, how);
}

Result<ProgramBitcode> gather(const std::vector<std::string>& files) {
  ProgramBitcode program;
  std::vector<CompileJob> jobs;
  for (const std::string& file : files) {
    if (std::filesystem::path(file).extension() != ".json") {
      if (auto added = addBitcode(program, file); !added) return tl::unexpected(added.error());
      continue;
    }
    auto listed = readCompileCommands(file);
    if (!listed) return tl::unexpected(listed.error());
    jobs.insert(jobs.end(), listed->begin(), listed->end());
  }
  if (auto compiled = compile(program, std::move(jobs)); !compiled) return tl::unexpected(compiled.error());
  return program;
}

Result<ExitCode> run(Options options, const ProgramCommand& command) {
  const bool records = command.given && !command.words.empty();
  if (records && !options.trace.empty()) return fail("give either --trace or a program to run, not both");
  if (!records && !options.record.pm.empty())
    return fail("--pm is for a program to record; put it after --: blackout infer --pm POOL -- ./program args");
  if (options.files.empty() && records) {
    auto program = findProgram(command.words[0]);
    if (!program) return tl::unexpected(program.error());
    options.files.push_back(*program);
  }
  if (options.files.empty()) return fail("name what to analyse: blackout infer BINARY, *.bc or compile_commands.json");
  auto program = gather(options.files);
  if (!program) return tl::unexpected(program.error());
  if (program->units.empty()) {
    for (const std::string& s : program->notes) fmt::print(stderr, "note: {}\n", escapeText(s));
    return fail("there is no bitcode to analyse in what was named", ExitCode::Inconclusive);
  }
  options.infer.correlations = options.json || options.text.reasons;
  InferredProperties inferred = inferProperties(*program, options.infer);
  Guardians& guardians = inferred.guardians;

  std::vector<std::string> incomplete = guardians.incomplete;
  // What is likely to belong together is a hint: where some of it is missing, nothing that was said is less true.
  guardians.notes.insert(guardians.notes.end(), inferred.counting.incomplete.begin(),
                         inferred.counting.incomplete.end());
  std::optional<Recording> recording;
  if (records) {
    options.record.loads = true;
    if (auto ok = takeProgram(options.record, command, "infer"); !ok) return tl::unexpected(ok.error());
    auto made = record(options.record);
    if (!made) return tl::unexpected(made.error());
    recording = std::move(*made);
    options.trace = recording->tracePath;
    guardians.notes.insert(guardians.notes.end(), recording->notes.begin(), recording->notes.end());
    incomplete.insert(incomplete.end(), recording->incomplete.begin(), recording->incomplete.end());
    if (!recording->unseenReason.empty()) incomplete.push_back(recording->unseenReason);
    if (std::string ending = endingText(recording->waitStatus); !ending.empty())
      guardians.notes.push_back(fmt::format("The program itself ended with {}.", ending));
  }
  std::optional<Trace> trace;
  std::optional<LikelyCommits> commits;
  if (!options.trace.empty()) {
    auto opened = Trace::open(options.trace);
    if (!opened) return tl::unexpected(opened.error());
    trace.emplace(std::move(*opened));
    commits = likelyCommits(*trace, accessesOf(guardians));
    if (commits->loads == 0)
      incomplete.push_back("the trace has no loads, so no guardian is known by its address; record it with --loads");
  }
  const Trace* of = trace ? &*trace : nullptr;
  const LikelyCommits* found = commits ? &*commits : nullptr;
  if (options.json) {
    fmt::print("{}", renderGuardiansJson(guardians, inferred.counting, of, found));
  } else {
    std::string counting = renderCounting(inferred.counting, options.text);
    fmt::print("{}{}{}", renderGuardians(guardians, of, found, options.text), counting.empty() ? "" : "\n", counting);
  }
  std::fflush(stdout);
  for (const std::string& s : guardians.notes) fmt::print(stderr, "note: {}\n", escapeText(s));
  for (const std::string& s : incomplete) fmt::print(stderr, "inconclusive: {}\n", escapeText(s));
  return incomplete.empty() ? ExitCode::Clean : ExitCode::Inconclusive;
}

const Register registered({
    .name = "infer",
    .summary = "tell which persistent fields a program trusts, and why",
    .synopsis = "blackout infer FILE... [OPTIONS] [-- PROGRAM [ARGS]]",
    .details =
        "A guardian is a persistent field whose value decides whether, or where, other persistent fields are read: it "
        "guards them by a test of its own, decides over them by a comparison with something else (as a search does), "
        "or "
        "leads to them as a pointer or an index. Two guard a field together if one condition tests both.\n\n"
        "An array and a counter belong together (array ~ counter) if every read of the array stays below the counter, "
        "and code changes both: a crash in between loses elements, or counts some that are not there. That is no bug "
        "by itself; 'blackout check' tries the crashes that would show one first. What was inferred is kept in "
        "$XDG_CACHE_HOME/blackout (~/.cache/blackout), a few files that nobody else can read, until the program or "
        "Blackout changes.\n\n"
        "FILE is a program, library, object file or archive that blackout-clang or blackout-clang++ made (they keep "
        "bitcode in it), a file of bitcode, or a compile_commands.json, whose units are compiled separately. With a "
        "program "
        "after -- it is run once and recorded; then the addresses that the guardians' reads touched, and the stores "
        "that are likely to commit an operation, are shown too. Exit code 3: something could not be seen, and a "
        "sentence "
        "says what.",
    .declare = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      app.add_option("FILE", o->files, "what to analyse; may be left out if a program is run")->type_name("");
      app.add_flag("--why", o->text.reasons,
                   "give the reason for each guarded field, pairs of nested tests, fields that are mostly accessed "
                   "together, every read of an array, and what was dropped");
      app.add_option("--infer-time", o->infer.seconds,
                     "seconds of processor time to look for arrays and their counters; 0: not at all")
          ->type_name("SECONDS")
          ->check(CLI::NonNegativeNumber);
      app.add_flag("--all", o->infer.all, "list fields that nothing shows to be persistent, too");
      app.add_option("--pm", o->record.pm, "a pool of the program after --; may be given more than once")
          ->type_name("POOL")
          ->allow_extra_args(false);
      app.add_option("--heap", o->record.heap, "take the program's own heap for persistent memory, of this many MiB")
          ->type_name("MIB");
      app.add_option("--trace", o->trace, "a trace of the program, made by 'blackout record --loads'")
          ->type_name("TRACE");
      app.add_flag("--commits", o->text.commits, "list the stores of the trace that are likely to commit");
      app.add_flag("--json", o->json, "print JSON");
      return [o](const ProgramCommand& program) { return run(*o, program); };
    },
});

}  // namespace

}  // namespace blackout::cli
