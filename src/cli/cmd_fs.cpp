// `blackout fs`: a check of a harness of <blackout/fs.hpp> with one workload after another, which it gets from here.

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

#include "blackout/fs/workloads.hpp"
#include "check/results.h"
#include "cli/check_words.h"
#include "cli/slurm.h"
#include "events/saved_file.h"
#include "run/launch.h"

namespace blackout::cli {

namespace {

struct FsWords {
  CheckWords check;
  std::string workload = "seq-1";
  std::string shard;
  std::uint64_t sample = 0;
  bool all = false;
  bool list = false;
  bool lines = false;
  std::vector<std::string> without;
  std::vector<std::string> merge;
  unsigned slurm = 0;  // parts; 0: no jobs
  bool submit = false;
};

constexpr std::uint64_t kMaxOperations = 3;

// "3/16": the third of sixteen parts.
struct Shard {
  std::uint64_t number = 1, of = 1;
};
Result<Shard> shardOf(const std::string& text) {
  Shard shard;
  if (text.empty()) return shard;
  const char* end = text.data() + text.size();
  auto [slash, error] = std::from_chars(text.data(), end, shard.number);
  bool good = error == std::errc() && slash != end && *slash == '/';
  if (good) {
    auto [rest, wrong] = std::from_chars(slash + 1, end, shard.of);
    good = wrong == std::errc() && rest == end && shard.number >= 1 && shard.number <= shard.of;
  }
  if (!good) return fail(fmt::format("--shard {}: it is a part and how many there are, as 3/16", text));
  return shard;
}

std::string textOf(const std::vector<fs::Call>& calls) {
  std::string text;
  for (const fs::Call& call : calls) text += fs::textOf(call) + '\n';
  return text;
}

// What is read from a file is known by its content: another version of it may give other results.
std::string contentName(std::string_view bytes) {
  return fmt::format(" ({:016x})", XXH3_64bits(bytes.data(), bytes.size()));
}
std::string withContent(const std::string& value) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(value, error)) return value;
  auto bytes = readWholeFile(value);
  return bytes ? value + contentName(*bytes) : value;
}

// The numbers that `text` is, "7" or "7:30"; none: it is something else.
std::optional<std::vector<std::uint64_t>> numbersIn(std::string_view text) {
  std::vector<std::uint64_t> all;
  for (;;) {
    std::uint64_t n = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc()) return std::nullopt;
    all.push_back(n);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) return all;
    if (text.front() != ':') return std::nullopt;
    text.remove_prefix(1);
  }
}

struct Chosen {
  std::vector<Campaign::Workload> workloads;
  std::uint64_t inAllParts = 0;
  std::string content;  // of the files that they are from, by its name; empty: there are none
};

// Adds the workloads with the numbers of the shard among `count`.
Result<void> choose(Chosen& campaign, const FsWords& words, std::uint64_t count,
                    const std::function<Campaign::Workload(std::uint64_t)>& make) {
  auto shard = shardOf(words.shard);
  if (!shard) return tl::unexpected(shard.error());
  for (std::uint64_t i = shard->number - 1; i < count; i += shard->of) {
    campaign.workloads.push_back(make(i));
    campaign.workloads.back().number = i;
  }
  campaign.inAllParts = count;
  if (campaign.workloads.empty())
    return fail(fmt::format("--shard {}: there are {} workloads only, and none is in that part", words.shard, count));
  return {};
}

Result<Campaign::Workload> workloadIn(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  std::string why;
  if (!file)
    return fail(fmt::format(
        "--workload {}: can't be read; it is seq-1, seq-2, seq-3, random:SEED:LENGTH, or a file of operations or a "
        "folder of such files",
        path.string()));
  if (!fs::callsOf(text.str(), why)) return fail(fmt::format("{}: {}", path.string(), why));
  return Campaign::Workload{0, path.stem().string(), text.str()};
}

Result<Chosen> workloadsOf(const FsWords& words) {
  Chosen campaign;
  constexpr std::uint64_t kMost = 100000;  // each is a recording
  if (words.workload.rfind("random:", 0) == 0) {
    auto numbers = numbersIn(std::string_view(words.workload).substr(7));
    constexpr std::uint64_t kLongest = 10000;
    if (!numbers || numbers->size() != 2 || numbers->back() == 0 || numbers->back() > kLongest)
      return fail(fmt::format("--workload {}: it is a seed and how many operations, as random:7:30", words.workload));
    std::uint64_t seed = numbers->front(), length = numbers->back();
    auto chosen = choose(campaign, words, std::clamp<std::uint64_t>(words.sample, 1, kMost), [&](std::uint64_t i) {
      return Campaign::Workload{i, fmt::format("random-{}-{}", seed + i, length),
                                textOf(fs::randomWorkload(seed + i, length))};
    });
    if (!chosen) return tl::unexpected(chosen.error());
    return campaign;
  }
  std::error_code error;
  if (std::filesystem::is_directory(words.workload, error)) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(words.workload, error))
      if (entry.is_regular_file(error)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    if (files.empty()) return fail(fmt::format("--workload {}: there is no file in it", words.workload));
    std::vector<Campaign::Workload> all;
    for (const std::filesystem::path& file : files) {
      auto workload = workloadIn(file);
      if (!workload) return tl::unexpected(workload.error());
      all.push_back(std::move(*workload));
    }
    std::string together;
    for (const Campaign::Workload& w : all) together += w.name + '\n' + w.text;
    campaign.content = contentName(together);
    auto chosen = choose(campaign, words, all.size(), [&](std::uint64_t i) { return all[i]; });
    if (!chosen) return tl::unexpected(chosen.error());
    return campaign;
  }
  if (words.workload.rfind("seq-", 0) != 0) {
    if (!words.shard.empty()) return fail("--shard: a file is one workload; leave it out");
    auto workload = workloadIn(words.workload);
    if (!workload) return tl::unexpected(workload.error());
    campaign.content = contentName(workload->text);
    campaign.workloads.push_back(std::move(*workload));
    campaign.inAllParts = 1;
    return campaign;
  }
  auto number = numbersIn(std::string_view(words.workload).substr(4));
  if (!number || number->size() != 1 || number->front() == 0 || number->front() > kMaxOperations)
    return fail(
        fmt::format("--workload {}: there are seq-1, seq-2, seq-3 and random:SEED:LENGTH, or a file of operations",
                    words.workload));
  std::uint64_t operations = number->front();
  std::uint64_t count = fs::workloadCount(operations);
  std::uint64_t taken = words.sample == 0 ? count : std::min(words.sample, count);
  if (taken > kMost)
    return fail(
        fmt::format("--workload {}: {} workloads; take some of them, as --sample 10000", words.workload, count));
  // A sample is spread evenly over all of them.
  auto chosen = choose(campaign, words, taken, [&](std::uint64_t i) {
    std::uint64_t n = i * count / taken;
    return Campaign::Workload{i, fmt::format("{}-{}", words.workload, n), textOf(fs::workload(operations, n))};
  });
  if (!chosen) return tl::unexpected(chosen.error());
  return campaign;
}

// Options that say where a report goes and how it looks, or how long the work may take: results are the same with any.
bool decides(const std::string& option) {
  static const std::set<std::string> none{"--help",      "--jobs",    "--time",    "--json",     "--sarif",
                                          "--junit",     "--html",    "--report",  "--out",      "--findings",
                                          "--quiet",     "--verbose", "--fail-on", "--baseline", "--print-suppressions",
                                          "--keep-runs", "--keep-mib"};
  return none.count(option) == 0;
}

// What decides over the results (check/results.h).
std::map<std::string, std::string> settingsOf(const CLI::App& app, const FsWords& words, const Chosen& campaign,
                                              const ProgramCommand& program) {
  std::map<std::string, std::string> settings;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || !decides(option->get_name())) continue;
    std::string text;
    for (const std::string& value : option->results()) text += (text.empty() ? "" : " ") + withContent(value);
    settings[option->get_name()] = text;
  }
  settings["--workload"] = words.workload + campaign.content;
  // The arguments of an interpreter may be the program; the image is what it makes.
  const std::vector<std::string>& pools = words.check.record.pm;
  for (std::size_t i = 0; i < program.words.size(); ++i) {
    const std::string& word = program.words[i];
    bool content = i == 0 || (words.lines && std::find(pools.begin(), pools.end(), word) == pools.end());
    settings[i == 0 ? "program" : fmt::format("argument {}", i)] = content ? withContent(word) : word;
  }
  settings[Results::kWorkloads] = std::to_string(campaign.inAllParts);
  settings["blackout"] = fmt::format("{}-{:016x}", BLACKOUT_VERSION, reportShape());
  return settings;
}

// The options again, as every part of the work gets them.
std::vector<std::string> slurmWords(const CLI::App& app) {
  static const std::set<std::string> kOwn{"--slurm", "--submit", "--shard", "--out",  "--findings",
                                          "--json",  "--sarif",  "--junit", "--html", "--report"};
  std::vector<std::string> all{"fs"};
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || kOwn.count(name) != 0) continue;
    if (option->get_expected_max() == 0) {
      all.push_back(name);
      continue;
    }
    for (const std::string& value : option->results()) all.insert(all.end(), {name, value});
  }
  return all;
}

// The report of what is kept in several folders.
Result<ExitCode> merge(FsWords words, const ProgramCommand& program) {
  // What the campaigns were asked to fail on counts for their sum.
  if (words.check.failOn.empty()) {
    auto first = Results::read(words.merge.front());
    if (!first) return tl::unexpected(first.error());
    words.check.failOn = first->settings().count("--mechanisms") != 0 ? "suspected" : "proved";
  }
  Campaign campaign;
  campaign.merge = words.merge;
  words.check.campaign = std::move(campaign);
  return runCheck(std::move(words.check), program, "fs");
}

Result<ExitCode> run(const CLI::App& app, FsWords words, const ProgramCommand& program) {
  if (!words.merge.empty()) return merge(std::move(words), program);
  if (!words.check.fromTrace.empty()) return fail("--from-trace: 'blackout fs' makes recordings of its own");
  auto chosen = workloadsOf(words);
  if (!chosen) return tl::unexpected(chosen.error());
  if (words.list) {
    for (const Campaign::Workload& w : chosen->workloads) fmt::print("# {}\n{}", w.name, w.text);
    return ExitCode::Clean;
  }
  if (words.check.schedules != 1 || words.check.preemptions)
    return fail("--schedules, --preemptions: a harness of a file system has one thread; leave them out");
  if (words.check.crash.from || words.check.crash.to || words.check.crash.points != "enough")
    return fail("--points, --from, --to: 'blackout fs' chooses the points itself, those of operations that are new");
  if (words.check.crash.noExplore) return fail("--no-explore: a file system is judged by its restarts; leave it out");
  if (words.slurm != 0) {
    SlurmJob job{slurmWords(app), program.words, words.slurm, words.check.out};
    return writeSlurmJob(job, words.submit);
  }
  if (words.submit) return fail("--submit: it goes with --slurm, which says in how many parts");
  ProgramCommand harness = program;
  if (words.lines) {
    auto lines = libraryFile("blackout-fs-lines");
    if (!lines) return tl::unexpected(lines.error());
    if (program.words.empty()) return fail("--lines: name the program after --");
    auto found = findProgram(program.words.front());
    if (!found) return tl::unexpected(found.error());
    harness.words.insert(harness.words.begin(), *lines);
  }
  Campaign campaign;
  campaign.folder = (words.check.out.empty() ? words.check.crash.findings : words.check.out) + "/workloads";
  // Where a program in between makes the stores, as an interpreter does, all operations go the same way through it.
  campaign.skipKnown = !words.all && !words.lines;
  campaign.without = {words.without.begin(), words.without.end()};
  if (!words.check.out.empty()) {
    campaign.results = words.check.out;
    campaign.settings = settingsOf(app, words, *chosen, program);
  }
  campaign.workloads = std::move(chosen->workloads);
  words.check.campaign = std::move(campaign);
  return runCheck(std::move(words.check), harness, "fs");
}

const Register registered({
    .name = "fs",
    .summary = "check that a file system is as before or as after the operation that a crash interrupted",
    .synopsis = "blackout fs --pm IMAGE [OPTIONS] -- PROGRAM IMAGE\n"
                "blackout fs --merge FOLDER... [OPTIONS]",
    .details =
        "A harness is a class with the file system's operations and one macro of <blackout/fs.hpp>. For each workload "
        "it makes a file system, mounts it and makes the operations; the power fails at every point that matters, with "
        "everything that may be left; the harness is started again, mounts what is there, compares every name, size, "
        "link and byte with a model of a file system, and goes on working. It must look as before the operation that "
        "was interrupted, or as after it. It is 'blackout check' of the harness with one workload after another, with "
        "its options, findings and exit codes.\n\n"
        "Workloads are all sequences of one, two or three operations over a few files and directories (seq-1, seq-2, "
        "seq-3), each with what it needs before it, or a file with an operation on each line. An operation that takes "
        "a way through the code that was explored before, in this or an earlier workload, is only made, not explored "
        "again.\n\n"
        "With --out FOLDER the result of each workload is kept in FOLDER/results.db when it is done, and the same "
        "command goes on from there. --shard lets several machines share the work, each with a folder of its own; "
        "--merge makes one report of all of them, and --slurm writes the jobs that do this.\n\n"
        "The harness gets --workload FILE after its own arguments, and can be run by hand with it.\n\n"
        "With --lines the program may be in any language: it reads requests from its standard input, each a line "
        "(\"mkfs\", \"mount\", \"creat foo\", \"write foo 0 616263\", \"stat foo\" ...), and writes a line in answer "
        "to "
        "each: 0 or an errno below 0, and what was asked for. <blackout/fs/lines.hpp> lists them. Every operation is "
        "explored then, known or not: in an interpreter all of them go the same way through the code.",
    .declare = [](CLI::App& app) -> Action {
      auto o = std::make_shared<FsWords>();
      declareCheckOptions(app, o->check);
      app.add_option(
             "--workload", o->workload,
             "seq-1 (the default), seq-2, seq-3, random:SEED:LENGTH (so many operations by chance; with --sample N so "
             "many workloads, with the next seeds), a file of operations, or a folder of such files")
          ->type_name("NAME");
      app.add_option("--shard", o->shard, "only one part of the workloads, as 3/16: the third of sixteen")
          ->type_name("I/N");
      app.add_option("--sample", o->sample, "so many of the workloads, evenly chosen, instead of all")->type_name("N");
      app.add_flag("--all-operations", o->all,
                   "explore every operation of every workload, also those that went the same way through the code "
                   "before");
      app.add_flag("--lines", o->lines,
                   "the program is no harness of <blackout/fs.hpp>, but gets requests as lines and answers them");
      std::vector<std::string> operations;
      for (const fs::OperationForm& form : fs::operationForms()) operations.emplace_back(form.name);
      app.add_option(Results::kWithout, o->without,
                     "operations that the file system does not have: that a harness answers them with ENOSYS makes the "
                     "result no longer inconclusive; what they would have tested is named as not explored")
          ->type_name("OPERATION,...")
          ->delimiter(',')
          ->allow_extra_args(false)
          ->check(CLI::IsMember(operations));
      app.add_flag("--list", o->list, "print the workloads, and run nothing");
      app.add_option("--merge", o->merge,
                     "one report of what other runs kept with --out, each of a part of the workloads; nothing is run")
          ->type_name("FOLDER");
      app.add_option("--slurm", o->slurm,
                     "write jobs for Slurm into the folder of --out: an array of so many parts, and one that merges "
                     "them; nothing is run")
          ->type_name("N");
      app.add_flag("--submit", o->submit, "submit the jobs of --slurm with sbatch, too");
      return [o, &app](const ProgramCommand& program) { return run(app, *o, program); };
    },
});

}  // namespace

}  // namespace blackout::cli
