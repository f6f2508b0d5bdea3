#include "check/campaign.h"

#include <fmt/format.h>
#define XXH_STATIC_LINKING_ONLY  // for a state on the stack
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "check/results.h"
#include "check/several_recordings.h"
#include "events/trace.h"
#include "findings/numbers.h"
#include "model/operations.h"

namespace blackout {

namespace {

// The operation that the harness does not have (ENOSYS as its result): the rest of the workload was not made. Empty: it
// has all.
std::string unsupported(const Operations& operations) {
  for (OperationNo n : idRange<OperationNo>(operations.count())) {
    auto results = operations.results(n);
    if (results && results->size() == 1 && results->front().kind == ValueKind::Signed &&
        static_cast<std::int64_t>(results->front().number) == -ENOSYS)
      return std::string(operations[n].name);
  }
  return "";
}

// The operations of a recording that were not explored before, from the first of them to the last.
struct NewOperations {
  std::optional<std::uint64_t> first, last;
  std::set<std::uint64_t> fingerprints;

  std::uint64_t span() const { return first ? *last - *first + 1 : 0; }
};
NewOperations take(const std::vector<std::optional<std::uint64_t>>& fingerprints, std::set<std::uint64_t>& explored) {
  NewOperations fresh;
  for (std::uint64_t i = 0; i < fingerprints.size(); ++i) {
    if (fingerprints[i] && !explored.insert(*fingerprints[i]).second) continue;
    if (fingerprints[i]) fresh.fingerprints.insert(*fingerprints[i]);
    if (!fresh.first) fresh.first = i;
    fresh.last = i;
  }
  return fresh;
}

// The text of a workload as a file that a restart, and a replay, can read.
Result<std::string> fileOf(const std::string& folder, const Campaign::Workload& workload) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::string path = std::filesystem::absolute(folder, error).string() + "/" + workload.name + ".txt";
  std::ofstream file(path, std::ios::trunc);
  file << workload.text;
  file.close();
  if (!file) return fail(fmt::format("{}: can't be written", path));
  return path;
}

// The results of workloads added up, in the order of their numbers, and what there is to say of them together.
class CampaignSum {
 public:
  // `without`: operations that the file system is said not to have.
  CampaignSum(Judged& all, std::set<std::string> without) : all_(all), without_(std::move(without)) {}

  void add(WorkloadResult result) {
    ++made_;
    if (!result.marked) ++unmarked_;
    known_ += result.known;
    reached_.add(result.reached);
    switch (result.was) {
      case WorkloadResult::Was::NotSupported:
        ++lacking_[result.lacks];
        return;
      case WorkloadResult::Was::OnlyMade:
        ++onlyMade_;
        return;
      case WorkloadResult::Was::Explored:
        break;
    }
    ++explored_;
    all_.add({std::move(result.kept.report), std::move(result.kept.replayable), {}}, {});
  }

  // `stored`: all lines that the program has; none: its file says.
  void tell(std::uint64_t workloads, const std::optional<LinesReached::StoringLines>& stored) {
    Report& report = all_.report;
    report.notes.push_back(fmt::format(
        "{} of {}: {} explored, {} only made (every operation in them had gone the same way through the code before).",
        made_, counted(workloads, "workload"), explored_, onlyMade_));
    const SiteCoverage lines = stored ? reached_.coverage(*stored) : reached_.coverage();
    if (lines.places != 0)
      report.notes.push_back(
          fmt::format("The workloads reached {} of {} that store to the structs in persistent memory (without those "
                      "that only a restart reaches).",
                      grouped(lines.reached), counted(lines.places, "line")));
    if (known_ != 0 && report.exploration)
      report.exploration->notExplored.push_back(
          fmt::format("{} that went the same way through the code as one that was explored; --all-operations explores "
                      "them too.",
                      counted(known_, "operation")));
    auto incomplete = [&](std::string sentence) { report.incomplete.push_back(std::move(sentence)); };
    if (made_ < workloads) incomplete(fmt::format("{} of {} workloads were tried.", made_, workloads));
    if (unmarked_ != 0)
      incomplete(fmt::format("The program marks no operations in {} of {}: it is no harness of <blackout/fs.hpp>.",
                             unmarked_, counted(made_, "workload")));
    for (const auto& [operation, count] : lacking_) {
      std::string text = fmt::format("{} of {} {} not explored: the harness has no {}", count,
                                     counted(made_, "workload"), count == 1 ? "was" : "were", operation);
      if (!without_.contains(operation))
        incomplete(text + fmt::format("; if the file system has none, say so with --without {}.", operation));
      else if (report.exploration)
        report.exploration->notExplored.push_back(text + ".");
      else
        incomplete(text + ".");
    }
  }

  std::uint64_t made() const { return made_; }
  std::uint64_t onlyMade() const { return onlyMade_; }
  std::uint64_t findings() const { return all_.report.findings.size(); }

 private:
  Judged& all_;
  LinesReached reached_;
  std::uint64_t made_ = 0, explored_ = 0, onlyMade_ = 0, unmarked_ = 0, known_ = 0;
  std::set<std::string> without_;
  std::map<std::string, std::uint64_t> lacking_;  // workloads by the operation that the harness does not have
};

class CampaignCheck {
 public:
  CampaignCheck(CheckOptions options, Judged& all)
      : recordings_(std::move(options)),
        campaign_(*recordings_.options.campaign),
        all_(all),
        sum_(all, campaign_.without),
        command_(recordings_.options.record.command) {}

  Result<void> check() {
    std::optional<Results> kept;
    if (!campaign_.results.empty()) {
      auto opened = Results::open(campaign_.results, campaign_.settings);
      if (!opened) return tl::unexpected(opened.error());
      auto operations = opened->operations();
      if (!operations) return tl::unexpected(operations.error());
      explored_ = std::move(*operations);
      kept = std::move(*opened);
    }
    std::uint64_t before = 0;
    bool first = true;
    for (const Campaign::Workload& workload : campaign_.workloads) {
      if (kept && kept->has(workload.number)) {
        auto result = kept->load(workload.number);
        if (!result) return tl::unexpected(result.error());
        sum_.add(std::move(*result));
        ++before;
        continue;
      }
      if (!first && recordings_.patience.ending()) break;
      first = false;
      auto result = judge(workload);
      if (!result) return tl::unexpected(result.error());
      // What an interrupt or a bound may have cut short is made again.
      if (kept && !recordings_.patience.ending())
        if (auto ok = keep(*kept, *result); !ok) return ok;
      sum_.add(std::move(*result));
      if (campaign_.progress)
        campaign_.progress(
            {sum_.made(), campaign_.workloads.size(), before, sum_.onlyMade(), sum_.findings(), spent()});
    }
    std::error_code error;
    std::filesystem::remove(campaign_.folder, error);  // if nothing is in it
    std::optional<LinesReached::StoringLines> lines;
    if (kept) {
      auto all = kept->lines();
      if (!all) return tl::unexpected(all.error());
      lines = std::move(*all);
    }
    sum_.tell(campaign_.workloads.size(), lines);
    if (kept && sum_.made() < campaign_.workloads.size())
      all_.report.notes.push_back(
          fmt::format("The results are kept in {}: the same command goes on from there.", campaign_.results));
    return {};
  }

 private:
  Result<void> keep(Results& kept, const WorkloadResult& result) {
    // The same in every workload, but for what a program loads in some of them only.
    if (!std::includes(programs_.begin(), programs_.end(), result.reached.programs().begin(),
                       result.reached.programs().end())) {
      programs_.insert(result.reached.programs().begin(), result.reached.programs().end());
      if (auto ok = kept.add(LinesReached::storingLines(programs_)); !ok) return ok;
    }
    return kept.add(result);
  }

  Result<WorkloadResult> judge(const Campaign::Workload& workload) {
    WorkloadResult result;
    result.number = workload.number;
    result.name = workload.name;
    auto path = fileOf(campaign_.folder, workload);
    if (!path) return tl::unexpected(path.error());
    std::vector<std::string> words = command_;
    words.insert(words.end(), {"--workload", *path});
    auto recording = recordings_.next(std::move(words));
    if (!recording) return tl::unexpected(recording.error());
    NewOperations fresh;
    std::uint64_t operationCount = 0;
    {
      std::shared_ptr<const Trace> trace = recording->trace;
      Operations operations(*trace);
      result.lacks = unsupported(operations);
      operationCount = operations.count();
      result.marked = operationCount != 0;
      result.reached.add(*trace);
      if (result.lacks.empty()) fresh = take(operationFingerprints(*trace, operations), explored_);
    }
    const bool skip = !result.lacks.empty();
    if (!skip && campaign_.skipKnown) result.known = operationCount - fresh.span();
    bool worth = fresh.first || !campaign_.skipKnown || recording->waitStatus != 0 || !recording->incomplete.empty();
    result.was = skip    ? WorkloadResult::Was::NotSupported
                 : worth ? WorkloadResult::Was::Explored
                         : WorkloadResult::Was::OnlyMade;
    bool found = false;
    if (!skip && worth) {
      bool some = campaign_.skipKnown && fresh.first && fresh.span() < operationCount;
      if (auto& crash = recordings_.options.crash) {
        crash->points.fromOp = some ? fresh.first : std::nullopt;
        crash->points.toOp = some ? fresh.last : std::nullopt;
      }
      auto judged = recordings_.judge(*recording);
      if (!judged) return tl::unexpected(judged.error());
      // Another command would be no harness with this workload.
      std::erase_if(judged->report.notes, [](const std::string& sentence) {
        return sentence.starts_with("Restarts execute other programs");
      });
      // Said once for all of them, in the sum.
      if (some && judged->report.exploration)
        std::erase_if(judged->report.exploration->notExplored,
                      [](const std::string& sentence) { return sentence.starts_with("Crashes at other points than"); });
      const std::vector<Finding>& findings = judged->report.findings;
      found = std::any_of(findings.begin(), findings.end(),
                          [](const Finding& f) { return f.severity != Severity::Performance; });
      Judged one;
      one.addList(std::move(*judged), found ? *path : std::string());
      result.kept = {std::move(one.report), std::move(one.replayable)};
    }
    result.operations = std::move(fresh.fingerprints);
    // A replay needs the file of what shows something.
    std::error_code error;
    if (!found) std::filesystem::remove(*path, error);
    return result;
  }

  double spent() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  using Clock = std::chrono::steady_clock;
  RecordingsInTurn recordings_;
  Campaign campaign_;
  Judged& all_;
  CampaignSum sum_;
  std::vector<std::string> command_;
  std::set<std::uint64_t> explored_;
  std::set<std::string> programs_;  // whose lines are kept
  Clock::time_point began_ = Clock::now();
};

}  // namespace

std::vector<std::optional<std::uint64_t>> operationFingerprints(const Trace& trace, const Operations& operations) {
  std::vector<std::optional<std::uint64_t>> all;
  for (const Operation& operation : operations.all()) {
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, operation.name.data(), operation.name.size());
    bool known = true;
    for (EventNo n = operation.begin; n < trace.end() && n <= operation.end; n = trace.next(n)) {
      const Event& e = trace[n];
      EventGroup group = groupOf(kindOf(e));
      if (group != EventGroup::Store && group != EventGroup::Flush && group != EventGroup::Fence) continue;
      const Site* site = trace.siteOf(e);
      known &= site != nullptr;
      const std::uint64_t what[] = {static_cast<std::uint64_t>(kindOf(e)), site == nullptr ? 0 : site->id, bytesOf(e)};
      XXH3_64bits_update(&state, what, sizeof what);
    }
    all.push_back(known ? std::optional<std::uint64_t>(XXH3_64bits_digest(&state)) : std::nullopt);
  }
  return all;
}

Result<void> checkCampaign(CheckOptions options, Judged& all) { return CampaignCheck(std::move(options), all).check(); }

Result<void> mergeCampaigns(const std::vector<std::string>& folders, Judged& all) {
  std::vector<Results> parts;
  std::map<std::uint64_t, std::size_t> whose;  // of each workload the part that has it
  for (const std::string& folder : folders) {
    auto part = Results::read(folder);
    if (!part) return tl::unexpected(part.error());
    if (!parts.empty())
      if (std::string why = Results::difference(parts.front().settings(), part->settings(), false); !why.empty())
        return fail(
            fmt::format("--merge {}: has results of another command than {} ({})", folder, folders.front(), why));
    for (std::uint64_t number : part->numbers()) whose.emplace(number, parts.size());
    parts.push_back(std::move(*part));
  }
  LinesReached::StoringLines lines;
  for (const Results& part : parts) {
    auto some = part.lines();
    if (!some) return tl::unexpected(some.error());
    lines.merge(*some);
  }
  const Results::Settings& settings = parts.front().settings();
  std::set<std::string> without;
  if (auto given = settings.find(Results::kWithout); given != settings.end()) {
    std::istringstream names(given->second);
    for (std::string name; names >> name;) without.insert(name);
  }
  CampaignSum sum(all, std::move(without));
  for (const auto& [number, part] : whose) {
    auto result = parts[part].load(number);
    if (!result) return tl::unexpected(result.error());
    sum.add(std::move(*result));
  }
  std::uint64_t workloads = whose.size();
  if (auto of = settings.find(Results::kWorkloads); of != settings.end())
    std::from_chars(of->second.data(), of->second.data() + of->second.size(), workloads);
  sum.tell(workloads, lines);
  // Without what only the first of them was given.
  std::vector<std::string>& command = all.report.command;
  if (command.size() > 2 && command[command.size() - 2] == "--workload") command.resize(command.size() - 2);
  return {};
}

}  // namespace blackout
