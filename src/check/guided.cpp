#include "check/guided.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "check/guidance.h"
#include "check/several_recordings.h"
#include "events/trace.h"
#include "findings/ending.h"
#include "findings/numbers.h"
#include "judge/order_judge.h"
#include "judge/site_coverage.h"
#include "run/private_pools.h"

namespace blackout {

namespace {

namespace fs = std::filesystem;

// Of the time that there is, what the search for lists may take.
constexpr double kShareOfSearch = 0.3;
// The exit code by which <blackout/lin.hpp> says that it does not know an operation.
constexpr int kNotTaken = 2;

std::string nameFor(const OperationList& list, std::string_view what) {
  std::string text = textOf(list);
  return fmt::format("{}-{:016x}.ops", what, XXH3_64bits(text.data(), text.size()));
}

Result<void> writeList(const fs::path& path, const OperationList& list) {
  std::ofstream out(path, std::ios::trunc);
  out << textOf(list);
  if (!out.flush()) return fail(fmt::format("--corpus: {} can't be written", path.string()));
  return {};
}

Result<std::string> readText(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in) return fail(fmt::format("--corpus: {} can't be read", path.string()));
  return text;
}

// Which argument of the structure's operations is a value.
std::optional<std::size_t> valueOf(const Trace& trace) {
  auto rules = orderRulesOf(Operations(trace), lin::Criterion::Durable);
  if (!rules || !*rules) return std::nullopt;
  switch ((*rules)->kind) {
    case StructureKind::Map:
    case StructureKind::Array:
      return 1;
    case StructureKind::Queue:
    case StructureKind::Stack:
    case StructureKind::Register:
      return 0;
    case StructureKind::Set:
    case StructureKind::Counter:
      break;
  }
  return std::nullopt;
}

// Runs that no list came of, by why.
struct Fruitless {
  std::uint64_t refused = 0;   // the harness has no such operation
  std::uint64_t failed = 0;    // another exit code than 0
  std::uint64_t notWhole = 0;  // not all of it was seen
  std::uint64_t died = 0;      // of a signal
  // The first that died; empty: its generator had not yet said which operations it makes.
  OperationList diedAt;
  std::string diedOf;
};

// Runs the harness without a crash.
class HarnessRunner : public ListRunner {
 public:
  HarnessRunner(const CheckOptions& options, const fs::path& folder, Patience patience)
      : record_(options.record),
        harness_(options.corpus->harness),
        list_(folder / "list.ops"),
        patience_(std::move(patience)) {
    record_.tracePath.clear();
    record_.keepPool.clear();
    record_.loads = true;
    record_.mayRefuse = true;  // a list that the harness does not take
    record_.pinTime = true;
    record_.quiet = true;
  }

  Result<std::optional<Attempt>> run(const OperationList& list) override {
    if (auto ok = writeList(list_, list); !ok) return tl::unexpected(ok.error());
    auto made = recorded({"--ops", list_.string()});
    if (!made) return tl::unexpected(made.error());
    if (!*made) {
      count(list);
      return std::optional<Attempt>();
    }
    return std::optional<Attempt>(Attempt{list, std::move(**made)});
  }

  Result<std::optional<Attempt>> generate(std::uint64_t seed, std::uint64_t operations) override {
    return generated(seed, operations);
  }
  // Without a number as many as the harness finds fit.
  Result<std::optional<Attempt>> generated(std::uint64_t seed, std::optional<std::uint64_t> operations) {
    std::error_code error;
    fs::remove(list_, error);
    std::vector<std::string> words = {"--seed", std::to_string(seed), "--list-ops", list_.string()};
    if (operations) words.insert(words.end(), {"--operations", std::to_string(*operations)});
    auto made = recorded(words);
    if (!made) return tl::unexpected(made.error());
    std::optional<OperationList> list;
    if (fs::exists(list_, error)) {
      auto text = readText(list_);
      if (!text) return tl::unexpected(text.error());
      list = operationsIn(*text);
    }
    if (!*made) count(list.value_or(OperationList()));
    if (!*made || !list || list->empty()) return std::optional<Attempt>();
    return std::optional<Attempt>(Attempt{std::move(*list), std::move(**made)});
  }

  bool over() const override { return patience_.ending(); }
  // Of the latest recording.
  std::optional<std::size_t> value() const { return value_; }
  const Fruitless& fruitless() const { return fruitless_; }

 private:
  Result<std::optional<Reached>> recorded(const std::vector<std::string>& words) {
    record_.command = harness_;
    record_.command.insert(record_.command.end(), words.begin(), words.end());
    auto recording = record(record_);
    if (!recording) return tl::unexpected(recording.error());
    ended_ = recording->waitStatus;
    if (ended_ != 0 || !recording->incomplete.empty()) return std::optional<Reached>();
    std::shared_ptr<const Trace> trace = recording->trace;
    value_ = valueOf(*trace);
    return std::optional<Reached>(reachedBy(*trace));
  }

  // Of the latest recording, which made this list.
  void count(const OperationList& list) {
    if (ended_ == 0) {
      ++fruitless_.notWhole;
    } else if (WIFEXITED(ended_)) {
      ++(WEXITSTATUS(ended_) == kNotTaken ? fruitless_.refused : fruitless_.failed);
    } else if (fruitless_.died++ == 0) {
      fruitless_.diedAt = list;
      fruitless_.diedOf = endingText(ended_);
    }
  }

  RecordOptions record_;
  std::vector<std::string> harness_;
  fs::path list_;
  Patience patience_;
  int ended_ = 0;
  std::optional<std::size_t> value_;
  Fruitless fruitless_;
};

class GuidedCheck {
 public:
  GuidedCheck(CheckOptions options, Judged& all) : recordings_(std::move(options)), o_(recordings_.options), all_(all) {
    if (recordings_.options.crash) recordings_.options.crash->tellReached = false;  // it is told of all lists together
  }

  Result<void> check() {
    const fs::path folder = o_.corpus->folder;
    std::error_code error;
    fs::create_directories(folder, error);
    if (!fs::is_directory(folder, error)) return fail(fmt::format("--corpus {}: it is no folder", folder.string()));
    auto work = PrivateFolder::make(PrivateFolder::InMemory);
    if (!work) return tl::unexpected(work.error());
    HarnessRunner runner(o_, work->path(), forSearch());
    std::vector<std::string> command = o_.record.command;
    auto first = runner.generated(o_.corpus->seed, o_.corpus->operations);
    if (!first) return tl::unexpected(first.error());
    Guided guided;
    std::map<std::string, fs::path> files;  // of lists that were there, by their text
    if (*first) {
      auto known = readFolder(folder, files);
      if (!known) return tl::unexpected(known.error());
      GuidanceOptions options{o_.corpus->seed, o_.corpus->operations.value_or((*first)->list.size()), o_.corpus->runs,
                              runner.value()};
      auto found = guide(**first, *known, runner, options);
      if (!found) return tl::unexpected(found.error());
      guided = std::move(*found);
    }
    // What there is no time for is kept, too: the next check explores it.
    std::vector<fs::path> lists;
    for (const Attempt& attempt : guided.known) lists.push_back(files.at(textOf(attempt.list)));
    for (const Attempt& attempt : guided.kept) {
      lists.push_back(folder / nameFor(attempt.list, "list"));
      if (auto ok = writeList(lists.back(), attempt.list); !ok) return ok;
    }
    if (auto ok = explore(command, {}); !ok) return ok;
    const SiteCoverage before = reached_.coverage();
    std::uint64_t explored = 0;
    for (const fs::path& file : lists) {
      if (recordings_.patience.ending()) break;
      std::vector<std::string> words = o_.corpus->harness;
      words.insert(words.end(), {"--ops", fs::absolute(file, error).string()});
      if (auto ok = explore(std::move(words), file.string()); !ok) return ok;
      ++explored;
    }
    if (explored < lists.size())
      all_.report.incomplete.push_back(
          fmt::format("{} of {} lists of operations in {} were explored.", explored, lists.size(), folder.string()));
    if (!*first) {
      all_.report.incomplete.emplace_back(
          "No other operations were looked for, and none that were there before were explored (--corpus), because the "
          "harness does not end well with its first ones, or was built with an older <blackout/lin.hpp>.");
      return {};
    }
    tell(guided, runner.fruitless(), explored, before);
    return tellDied(runner.fruitless(), files);
  }

 private:
  Patience forSearch() const {
    if (!o_.crash) return {};
    return {o_.crash->interrupt, o_.crash->again, kShareOfSearch * o_.crash->seconds};
  }

  // By name, so that it is the same everywhere.
  static Result<std::vector<OperationList>> readFolder(const fs::path& folder, std::map<std::string, fs::path>& files) {
    std::vector<fs::path> paths;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
      if (entry.path().extension() == ".ops" && !entry.path().filename().string().starts_with("dies-"))
        paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<OperationList> lists;
    for (const fs::path& path : paths) {
      auto text = readText(path);
      if (!text) return tl::unexpected(text.error());
      auto list = operationsIn(*text);
      if (!list)
        return fail(
            fmt::format("--corpus: {} is no list of operations: a name and numbers on each line, as "
                        "'insert 7 70'; # begins a comment",
                        path.string()));
      if (list->empty()) continue;
      files.try_emplace(textOf(*list), path);
      lists.push_back(std::move(*list));
    }
    return lists;
  }

  Result<void> explore(std::vector<std::string> command, const std::string& file) {
    auto recording = recordings_.next(std::move(command));
    if (!recording) return tl::unexpected(recording.error());
    auto judged = recordings_.judge(*recording);
    if (!judged) return tl::unexpected(judged.error());
    reached_.add(judged->reached);
    all_.addList(std::move(*judged), file);
    return {};
  }

  void tell(const Guided& guided, const Fruitless& fruitless, std::uint64_t explored, const SiteCoverage& before) {
    const SiteCoverage after = reached_.coverage();
    const std::string& folder = o_.corpus->folder;
    const std::size_t found = guided.kept.size(), known = guided.known.size();
    std::string text = fmt::format("{} of operations {} tried without a crash", counted(guided.runs, "list"),
                                   guided.runs == 1 ? "was" : "were");
    if (found != 0)
      text += fmt::format(": {} beyond the first, in {}, reach{} stores or orders of stores that no other does.",
                          grouped(found), folder, found == 1 ? "es" : "");
    else if (known != 0)
      text += fmt::format(
          ", and none reaches a store or an order of stores that neither the first nor those that were in {} before "
          "does.",
          folder);
    else
      text += ", and none reaches a store or an order of stores that the first does not.";
    if (explored != 0)
      text += fmt::format(" {} in {}{} {} explored as well.", counted(explored, "list"), folder,
                          known == 0 ? "" : fmt::format(" ({} there before)", std::min<std::uint64_t>(explored, known)),
                          explored == 1 ? "was" : "were");
    if (fruitless.refused != 0)
      text += fmt::format(" The harness did not take {} of those that were tried.", grouped(fruitless.refused));
    if (fruitless.failed != 0)
      text += fmt::format(" With {} of those that were tried the harness ended with an exit code other than 0.",
                          grouped(fruitless.failed));
    if (fruitless.notWhole != 0)
      text += fmt::format(" Of {} that were tried not everything could be recorded.", grouped(fruitless.notWhole));
    all_.report.notes.push_back(std::move(text));
    if (after.reached != before.reached)
      all_.report.notes.push_back(
          fmt::format("The first list alone reached {} of {} that store to the structs in "
                      "persistent memory.",
                      grouped(before.reached), counted(after.places, "line")));
    if (std::string never = neverReached(after, true); !never.empty()) all_.report.notes.push_back(std::move(never));
  }

  // As it is told of the first list (findings/ending.h).
  Result<void> tellDied(const Fruitless& fruitless, const std::map<std::string, fs::path>& files) {
    if (fruitless.died == 0) return {};
    std::string which = "operations of its generator";
    if (!fruitless.diedAt.empty()) {
      auto there = files.find(textOf(fruitless.diedAt));
      fs::path file =
          there != files.end() ? there->second : fs::path(o_.corpus->folder) / nameFor(fruitless.diedAt, "dies");
      if (there == files.end())
        if (auto ok = writeList(file, fruitless.diedAt); !ok) return ok;
      which = fmt::format("the operations in {} (--ops)", file.string());
    }
    all_.report.incomplete.push_back(fmt::format(
        "The harness ended with {}, without a simulated crash, when it made {}{}. What it would have done next was not "
        "seen; fix that first.",
        fruitless.diedOf, which,
        fruitless.died == 1 ? std::string()
                            : fmt::format("; {} of operations killed it in all", counted(fruitless.died, "list"))));
    return {};
  }

  RecordingsInTurn recordings_;
  const CheckOptions& o_;
  Judged& all_;
  LinesReached reached_;
};

}  // namespace

Result<void> checkGuided(CheckOptions options, Judged& all) { return GuidedCheck(std::move(options), all).check(); }

}  // namespace blackout
