#include "check/guided.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>

#include "check/guidance.h"
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

// Runs the harness without a crash.
class HarnessRunner : public ListRunner {
 public:
  HarnessRunner(const CheckOptions& options, const fs::path& folder, std::function<bool()> over)
      : record_(options.record), harness_(options.corpus->harness), list_(folder / "list.ops"), over_(std::move(over)) {
    record_.tracePath.clear();
    record_.keepPool.clear();
    record_.loads = true;
    record_.pinTime = true;
    record_.quiet = true;
  }

  Result<std::optional<Attempt>> run(const OperationList& list) override {
    if (auto ok = writeList(list_, list); !ok) return tl::unexpected(ok.error());
    auto made = recorded({"--ops", list_.string()});
    if (!made) return tl::unexpected(made.error());
    if (!*made) {
      if (!WIFEXITED(ended_) && died_.empty()) died_ = list, diedOf_ = endingText(ended_);
      return std::optional<Attempt>();
    }
    return std::optional<Attempt>(Attempt{list, std::move(**made)});
  }

  Result<std::optional<Attempt>> generate(std::uint64_t seed, std::uint64_t operations) override {
    std::error_code error;
    fs::remove(list_, error);
    auto made = recorded(
        {"--seed", std::to_string(seed), "--operations", std::to_string(operations), "--list-ops", list_.string()});
    if (!made) return tl::unexpected(made.error());
    if (!*made || !fs::exists(list_, error)) return std::optional<Attempt>();
    auto text = readText(list_);
    if (!text) return tl::unexpected(text.error());
    auto list = operationsIn(*text);
    if (!list || list->empty()) return std::optional<Attempt>();
    return std::optional<Attempt>(Attempt{std::move(*list), std::move(**made)});
  }

  bool over() const override { return over_(); }
  // Of the latest recording.
  std::optional<std::size_t> value() const { return value_; }
  // The first list that killed it, and how.
  const OperationList& died() const { return died_; }
  const std::string& diedOf() const { return diedOf_; }

 private:
  Result<std::optional<Reached>> recorded(const std::vector<std::string>& words) {
    record_.command = harness_;
    record_.command.insert(record_.command.end(), words.begin(), words.end());
    auto recording = record(record_);
    if (!recording) return tl::unexpected(recording.error());
    ended_ = recording->waitStatus;
    if (ended_ != 0 || !recording->incomplete.empty()) return std::optional<Reached>();
    auto trace = Trace::open(recording->tracePath);
    if (!trace) return tl::unexpected(trace.error());
    value_ = valueOf(*trace);
    return std::optional<Reached>(reachedBy(*trace));
  }

  RecordOptions record_;
  std::vector<std::string> harness_;
  fs::path list_;
  std::function<bool()> over_;
  int ended_ = 0;
  std::optional<std::size_t> value_;
  OperationList died_;
  std::string diedOf_;
};

class GuidedCheck {
 public:
  GuidedCheck(CheckOptions options, Judged& all)
      : o_(std::move(options)), all_(all), seconds_(o_.crash ? o_.crash->seconds : 0), began_(Clock::now()) {
    if (o_.crash) o_.crash->tellReached = false;  // it is told of all lists together
  }

  Result<void> check() {
    const fs::path folder = o_.corpus->folder;
    std::error_code error;
    fs::create_directories(folder, error);
    if (!fs::is_directory(folder, error)) return fail(fmt::format("--corpus {}: it is no folder", folder.string()));
    auto work = PrivateFolder::make(PrivateFolder::InMemory);
    if (!work) return tl::unexpected(work.error());
    HarnessRunner runner(o_, work->path(),
                         [&] { return interrupted() || (seconds_ != 0 && spent() >= kShareOfSearch * seconds_); });
    std::vector<std::string> command = o_.record.command;
    auto first = runner.generate(o_.corpus->seed, o_.corpus->operations);
    if (!first) return tl::unexpected(first.error());
    Guided guided;
    std::map<std::string, fs::path> files;  // of lists that were there, by their text
    if (*first) {
      auto known = readFolder(folder, files);
      if (!known) return tl::unexpected(known.error());
      GuidanceOptions options{o_.corpus->seed, o_.corpus->operations, o_.corpus->runs, runner.value()};
      auto found = guide(**first, *known, runner, options);
      if (!found) return tl::unexpected(found.error());
      guided = std::move(*found);
    } else {
      all_.report.incomplete.emplace_back(
          "No other operations were looked for (--corpus), because the harness does not end well with its first ones, "
          "or was built with an older <blackout/lin.hpp>.");
    }
    if (auto ok = explore(command, {}); !ok) return ok;
    const SiteCoverage before = reached_.coverage();
    std::uint64_t explored = 0;
    for (const Attempt& attempt : guided.kept) {
      if (interrupted() || (seconds_ != 0 && spent() >= seconds_)) break;
      auto there = files.find(textOf(attempt.list));
      fs::path file = there != files.end() ? there->second : folder / nameFor(attempt.list, "list");
      if (there == files.end())
        if (auto ok = writeList(file, attempt.list); !ok) return ok;
      std::vector<std::string> words = o_.corpus->harness;
      words.insert(words.end(), {"--ops", fs::absolute(file, error).string()});
      if (auto ok = explore(std::move(words), file.string()); !ok) return ok;
      ++explored;
    }
    if (explored < guided.kept.size())
      all_.report.incomplete.push_back(fmt::format("{} of {} lists of operations in {} were explored.", explored,
                                                   guided.kept.size(), folder.string()));
    if (*first) tell(guided, before);
    return tellDied(runner, folder);
  }

 private:
  using Clock = std::chrono::steady_clock;
  double spent() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  bool interrupted() const { return o_.crash && o_.crash->interrupt != nullptr && o_.crash->interrupt->load(); }

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
    o_.record.command = std::move(command);
    if (o_.crash && o_.crash->sameCommand) o_.crash->program.command = o_.record.command;
    if (seconds_ != 0) o_.crash->seconds = std::max(1e-3, seconds_ - spent());
    auto recording = record(o_.record);
    if (!recording) return tl::unexpected(recording.error());
    auto judged = judgeRecording(*recording, o_);
    if (!judged) return tl::unexpected(judged.error());
    reached_.add(judged->reached);
    all_.addList(std::move(*judged), file);
    return {};
  }

  void tell(const Guided& guided, const SiteCoverage& before) {
    const SiteCoverage after = reached_.coverage();
    std::string text = fmt::format(
        "{} of operations were tried without a crash: {} beyond the first, in {}, reach{} stores or orders "
        "of stores that no other does, and {} explored as well.",
        counted(guided.runs, "list"), guided.kept.empty() ? "none" : grouped(guided.kept.size()), o_.corpus->folder,
        guided.kept.size() == 1 ? "es" : "", guided.kept.size() == 1 ? "was" : "were");
    if (guided.kept.empty())
      text = fmt::format(
          "{} of operations were tried without a crash, and none reaches a store or an order of stores "
          "that the first does not.",
          counted(guided.runs, "list"));
    if (guided.refused != 0) text += fmt::format(" The harness did not take {} of them.", grouped(guided.refused));
    all_.report.notes.push_back(std::move(text));
    if (after.reached != before.reached)
      all_.report.notes.push_back(
          fmt::format("The first list alone reached {} of {} that store to the structs in "
                      "persistent memory.",
                      grouped(before.reached), counted(after.places, "line")));
    if (std::string never = neverReached(after); !never.empty()) all_.report.notes.push_back(std::move(never));
  }

  Result<void> tellDied(const HarnessRunner& runner, const fs::path& folder) {
    if (runner.died().empty()) return {};
    fs::path file = folder / nameFor(runner.died(), "dies");
    if (auto ok = writeList(file, runner.died()); !ok) return ok;
    all_.report.notes.push_back(
        fmt::format("The harness ends with {} without any crash when it makes the operations "
                    "in {} (--ops).",
                    runner.diedOf(), file.string()));
    return {};
  }

  CheckOptions o_;
  Judged& all_;
  double seconds_;
  Clock::time_point began_;
  LinesReached reached_;
};

}  // namespace

Result<void> checkGuided(CheckOptions options, Judged& all) { return GuidedCheck(std::move(options), all).check(); }

}  // namespace blackout
