// `blackout fs`: a check of a harness of <blackout/fs.hpp> with one workload after another, which it gets from here.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "blackout/fs/workloads.hpp"
#include "cli/check_words.h"

namespace blackout::cli {

namespace {

struct FsWords {
  CheckWords check;
  std::string workload = "seq-1";
  std::string shard;
  std::uint64_t sample = 0;
  bool all = false;
  bool list = false;
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

Result<std::vector<Campaign::Workload>> workloadsOf(const FsWords& words) {
  std::vector<Campaign::Workload> all;
  auto shard = shardOf(words.shard);
  if (!shard) return tl::unexpected(shard.error());
  if (words.workload.rfind("seq-", 0) != 0) {
    if (!words.shard.empty()) return fail("--shard: a file is one workload; leave it out");
    std::ifstream file(words.workload);
    std::stringstream text;
    text << file.rdbuf();
    std::string why;
    if (!file)
      return fail(fmt::format("--workload {}: can't be read; it is seq-1, seq-2, seq-3 or a file of operations",
                              words.workload));
    if (!fs::callsOf(text.str(), why)) return fail(fmt::format("{}: {}", words.workload, why));
    all.push_back({std::filesystem::path(words.workload).stem().string(), text.str()});
    return all;
  }
  std::uint64_t operations = 0;
  std::string_view number = std::string_view(words.workload).substr(4);
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), operations);
  if (error != std::errc() || end != number.data() + number.size() || operations == 0 || operations > kMaxOperations)
    return fail(
        fmt::format("--workload {}: there are seq-1, seq-2 and seq-3, or a file of operations", words.workload));
  std::uint64_t count = fs::workloadCount(operations);
  std::uint64_t taken = words.sample == 0 ? count : std::min(words.sample, count);
  constexpr std::uint64_t kMost = 100000;  // each is a recording
  if (taken > kMost)
    return fail(
        fmt::format("--workload {}: {} workloads; take some of them, as --sample 10000", words.workload, count));
  // A sample is spread evenly over all of them.
  for (std::uint64_t i = shard->number - 1; i < taken; i += shard->of) {
    std::uint64_t n = i * count / taken;
    all.push_back({fmt::format("{}-{}", words.workload, n), textOf(fs::workload(operations, n))});
  }
  if (all.empty())
    return fail(fmt::format("--shard {}: there are {} workloads only, and none is in that part", words.shard, taken));
  return all;
}

Result<ExitCode> run(FsWords words, const ProgramCommand& program) {
  if (!words.check.fromTrace.empty()) return fail("--from-trace: 'blackout fs' makes recordings of its own");
  auto workloads = workloadsOf(words);
  if (!workloads) return tl::unexpected(workloads.error());
  if (words.list) {
    for (const Campaign::Workload& w : *workloads) fmt::print("# {}\n{}", w.name, w.text);
    return ExitCode::Clean;
  }
  if (words.check.schedules != 1 || words.check.preemptions)
    return fail("--schedules, --preemptions: a harness of a file system has one thread; leave them out");
  if (words.check.crash.from || words.check.crash.to || words.check.crash.points != "enough")
    return fail("--points, --from, --to: 'blackout fs' chooses the points itself, those of operations that are new");
  if (words.check.crash.noExplore) return fail("--no-explore: a file system is judged by its restarts; leave it out");
  Campaign campaign;
  campaign.workloads = std::move(*workloads);
  campaign.folder = words.check.crash.findings + "/workloads";
  campaign.skipKnown = !words.all;
  words.check.campaign = std::move(campaign);
  return runCheck(std::move(words.check), program, "fs");
}

const Register registered({
    .name = "fs",
    .summary = "check that a file system is as before or as after the operation that a crash interrupted",
    .synopsis = "blackout fs --pm IMAGE [OPTIONS] -- PROGRAM IMAGE",
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
        "The harness gets --workload FILE after its own arguments, and can be run by hand with it.",
    .declare = [](CLI::App& app) -> Action {
      auto o = std::make_shared<FsWords>();
      declareCheckOptions(app, o->check);
      app.add_option("--workload", o->workload, "seq-1 (the default), seq-2, seq-3, or a file of operations")
          ->type_name("NAME");
      app.add_option("--shard", o->shard, "only one part of the workloads, as 3/16: the third of sixteen")
          ->type_name("I/N");
      app.add_option("--sample", o->sample, "so many of the workloads, evenly chosen, instead of all")->type_name("N");
      app.add_flag("--all-operations", o->all,
                   "explore every operation of every workload, also those that went the same way through the code "
                   "before");
      app.add_flag("--list", o->list, "print the workloads, and run nothing");
      return [o](const ProgramCommand& program) { return run(*o, program); };
    },
});

}  // namespace

}  // namespace blackout::cli
