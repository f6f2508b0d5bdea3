#include "check/check.h"

#include "check/campaign.h"
#include "check/guided.h"
#include "check/one_recording.h"
#include "check/races.h"
#include "check/schedules.h"
#include "check/several_recordings.h"

namespace blackout {

namespace {

// One thread first; then two operations against each other; then all threads, under several schedules.
Result<void> checkThreads(const CheckOptions& options, Judged& all) {
  auto recording = record(options.record);
  if (!recording) return tl::unexpected(recording.error());
  auto judged = judgeRecording(*recording, options);
  if (!judged) return tl::unexpected(judged.error());
  all = std::move(*judged);
  if (auto ok = checkRaces(options, recording->tracePath, all); !ok) return ok;
  CheckOptions threaded = options;
  std::vector<std::string> words = options.record.command;
  words.insert(words.end(), {"--threads", std::to_string(options.threads)});
  takeCommand(threaded, std::move(words));
  return checkSchedules(std::move(threaded), all);
}

Result<void> judge(const CheckOptions& options, Judged& all) {
  if (options.corpus) return checkGuided(options, all);
  if (options.campaign && !options.campaign->merge.empty()) return mergeCampaigns(options.campaign->merge, all);
  if (options.campaign) return checkCampaign(options, all);
  if (options.threads > 1) return checkThreads(options, all);
  if (options.schedules > 1 || options.preemptions) return checkSchedules(options, all);
  Recording recording;
  recording.tracePath = options.trace;
  if (!options.record.command.empty()) {
    auto made = record(options.record);
    if (!made) return tl::unexpected(made.error());
    recording = std::move(*made);
  }
  auto judged = judgeRecording(recording, options);
  if (!judged) return tl::unexpected(judged.error());
  all = std::move(*judged);
  return {};
}

}  // namespace

Result<Report> check(const CheckOptions& options) {
  Judged all;
  if (auto ok = judge(options, all); !ok) return tl::unexpected(ok.error());
  if (!options.record.command.empty()) all.report.command = options.record.command;
  return finished(std::move(all), options);
}

}  // namespace blackout
