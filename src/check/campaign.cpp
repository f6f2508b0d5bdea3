#include "check/campaign.h"

#include <fmt/format.h>
#define XXH_STATIC_LINKING_ONLY  // for a state on the stack
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>

#include "events/trace.h"
#include "findings/numbers.h"
#include "model/operations.h"

namespace blackout {

namespace {

bool interrupted(const CheckOptions& options) {
  return options.crash && options.crash->interrupt != nullptr && options.crash->interrupt->load();
}

// The harness has no such operation (ENOSYS as its result): the rest of the workload was not made.
bool unsupported(const Operations& operations) {
  for (OperationNo n : idRange<OperationNo>(operations.count())) {
    auto results = operations.results(n);
    if (results && results->size() == 1 && results->front().kind == ValueKind::Signed &&
        static_cast<std::int64_t>(results->front().number) == -ENOSYS)
      return true;
  }
  return false;
}

// The operations of a recording that were not explored before, from the first of them to the last.
struct NewOperations {
  std::optional<std::uint64_t> first, last;
};
NewOperations take(const std::vector<std::uint64_t>& fingerprints, std::set<std::uint64_t>& explored) {
  NewOperations fresh;
  for (std::uint64_t i = 0; i < fingerprints.size(); ++i) {
    if (!explored.insert(fingerprints[i]).second) continue;
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

}  // namespace

std::vector<std::uint64_t> operationFingerprints(const Trace& trace, const Operations& operations) {
  std::vector<std::uint64_t> all;
  static std::uint64_t unknown = 0;  // an operation of which not every instruction is known is like no other
  for (const Operation& operation : operations.all()) {
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, operation.name.data(), operation.name.size());
    for (EventNo n = operation.begin; n < trace.end() && n <= operation.end; n = trace.next(n)) {
      const Event& e = trace[n];
      EventGroup group = groupOf(kindOf(e));
      if (group != EventGroup::Store && group != EventGroup::Flush && group != EventGroup::Fence) continue;
      const Site* site = trace.siteOf(e);
      const std::uint64_t what[] = {static_cast<std::uint64_t>(kindOf(e)), site == nullptr ? ++unknown : site->id,
                                    bytesOf(e)};
      XXH3_64bits_update(&state, what, sizeof what);
    }
    all.push_back(XXH3_64bits_digest(&state));
  }
  return all;
}

Result<void> checkCampaign(CheckOptions options, Judged& all) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point began = Clock::now();
  auto spent = [&] { return std::chrono::duration<double>(Clock::now() - began).count(); };
  const Campaign campaign = *options.campaign;
  const std::vector<std::string> command = options.record.command;
  // An exploration of one workload is none of the whole.
  if (options.crash) options.crash->resume.clear(), options.crash->saveTo.clear();
  double seconds = options.crash ? options.crash->seconds : 0;
  std::set<std::uint64_t> explored;
  std::uint64_t made = 0, replayed = 0, notSupported = 0, unmarked = 0, explorations = 0, known = 0;
  bool first = true;
  for (const Campaign::Workload& workload : campaign.workloads) {
    if (!first && (interrupted(options) || (seconds != 0 && spent() >= seconds))) break;
    auto path = fileOf(campaign.folder, workload);
    if (!path) return tl::unexpected(path.error());
    options.record.command = command;
    options.record.command.insert(options.record.command.end(), {"--workload", *path});
    if (options.crash && options.crash->sameCommand) options.crash->program.command = options.record.command;
    auto recording = record(options.record);
    if (!recording) return tl::unexpected(recording.error());
    NewOperations fresh;
    std::uint64_t operationCount = 0;
    bool skip = false;
    {
      auto trace = Trace::open(recording->tracePath);
      if (!trace) return tl::unexpected(trace.error());
      Operations operations(*trace);
      skip = unsupported(operations);
      operationCount = operations.count();
      if (operationCount == 0) ++unmarked;
      if (!skip) fresh = take(operationFingerprints(*trace, operations), explored);
    }
    ++made;
    if (!skip && campaign.skipKnown) known += operationCount - (fresh.first ? *fresh.last - *fresh.first + 1 : 0);
    bool worth = fresh.first || !campaign.skipKnown || recording->waitStatus != 0 || !recording->incomplete.empty();
    if (skip) {
      ++notSupported;
    } else if (!worth) {
      ++replayed;
    } else {
      bool some = campaign.skipKnown && fresh.first && *fresh.last - *fresh.first + 1 < operationCount;
      if (options.crash) {
        if (seconds != 0) options.crash->seconds = std::max(1e-3, seconds - spent());
        options.crash->points.fromOp = some ? fresh.first : std::nullopt;
        options.crash->points.toOp = some ? fresh.last : std::nullopt;
      }
      auto judged = judgeRecording(*recording, options);
      if (!judged) return tl::unexpected(judged.error());
      // Said once for all of them, below.
      if (some && judged->report.exploration)
        std::erase_if(judged->report.exploration->notExplored,
                      [](const std::string& sentence) { return sentence.starts_with("Crashes at other points than"); });
      ++explorations;
      const std::vector<Finding>& findings = judged->report.findings;
      bool found = std::any_of(findings.begin(), findings.end(),
                               [](const Finding& f) { return f.severity != Severity::Performance; });
      all.addList(std::move(*judged), found ? *path : std::string());
      first = false;
      if (found) path->clear();  // a replay needs it
    }
    std::error_code error;
    if (!path->empty()) std::filesystem::remove(*path, error);
    if (campaign.progress) campaign.progress(made, campaign.workloads.size(), all.report.findings.size());
  }
  std::error_code error;
  std::filesystem::remove(campaign.folder, error);  // if nothing is in it
  all.report.notes.push_back(fmt::format(
      "{} of {}: {} explored, {} only made (every operation in them had gone the same way through the code before).",
      made, counted(campaign.workloads.size(), "workload"), explorations, replayed));
  if (known != 0 && all.report.exploration)
    all.report.exploration->notExplored.push_back(fmt::format(
        "{} that went the same way through the code as one that was explored; --all-operations explores them "
        "too.",
        counted(known, "operation")));
  auto incomplete = [&](std::string sentence) { all.report.incomplete.push_back(std::move(sentence)); };
  if (made < campaign.workloads.size())
    incomplete(fmt::format("{} of {} workloads were tried.", made, campaign.workloads.size()));
  if (unmarked != 0)
    incomplete(fmt::format("The program marks no operations in {} of {}: it is no harness of <blackout/fs.hpp>.",
                           unmarked, counted(made, "workload")));
  if (notSupported != 0)
    incomplete(fmt::format("{} of {} {} not explored: the harness has no such operation.", notSupported,
                           counted(made, "workload"), notSupported == 1 ? "was" : "were"));
  return {};
}

}  // namespace blackout
