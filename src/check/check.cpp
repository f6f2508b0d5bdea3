#include "check/check.h"

#include <fmt/format.h>
#define XXH_STATIC_LINKING_ONLY  // for a state on the stack
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>

#include "binary/symbolizer.h"
#include "binary/uninstrumented.h"
#include "detect/trusted.h"
#include "events/trace.h"
#include "findings/ending.h"
#include "findings/numbers.h"
#include "findings/run_summary.h"
#include "report/finding_files.h"
#include "report/places.h"

namespace blackout {

namespace {

// What a trusted library does with its own data is not told; that it was not told is.
void leaveOutTrusted(Report& report, const Trusted& trusted) {
  std::size_t inside = std::erase_if(
      report.findings, [&](const Finding& f) { return !f.places.empty() && trusted.insideAt(f.places.front().where); });
  if (inside != 0)
    report.notes.push_back(
        fmt::format("{} inside trusted code {} left out.", counted(inside, "finding"), inside == 1 ? "was" : "were"));
  report.trusted = trusted.objects();
}

// What the recorded run says by itself.
Report judgeTrace(const Index& index, const Recording& recording, const CheckOptions& options, const Trusted* trusted) {
  const Trace& trace = index.trace();
  Report report;
  report.notes = recording.notes;
  report.trapped =
      std::any_of(trace.modules().begin(), trace.modules().end(), [](const LoadedModule& m) { return m.trapped; });
  report.incomplete = recording.incomplete;
  bool blind = !recording.unseenReason.empty();
  if (blind) report.incomplete.push_back(recording.unseenReason);
  summarise(trace, report);
  tellEnding(report, options.anyExit);
  std::vector<EventNo> points = index.points(PointsMode::Enough);
  report.run.model = describe(options.model);
  report.run.lines = index.lineCount();
  report.run.points = points.size();
  report.run.log10States = log10StatesOverPoints(index, points);

  DetectOptions detectors = options.detect;
  detectors.blind = blind;
  report.findings = detect(index, detectors);
  report.detectors = detectorNames(detectors, options.crash && !blind);
  if (trusted != nullptr) leaveOutTrusted(report, *trusted);
  return report;
}

// Pulls the plug, and adds what comes of it to the report.
Result<std::vector<ReplayableFinding>> exploreCrashes(const Index& index, const CrashOptions& options, Report& report) {
  SymbolizedStacks stacks;
  auto crash = checkCrashes(index, options, stacks);
  if (!crash && crash.error().exit == ExitCode::Usage) return tl::unexpected(crash.error());
  if (!crash) {
    // What the recorded run said by itself is still worth reading.
    report.incomplete.push_back(fmt::format("Crashes could not be explored: {}.", crash.error().sentence));
    return std::vector<ReplayableFinding>();
  }
  report.exploration = std::move(crash->exploration);
  report.notes.insert(report.notes.end(), crash->notes.begin(), crash->notes.end());
  report.incomplete.insert(report.incomplete.end(), crash->incomplete.begin(), crash->incomplete.end());
  for (const ReplayableFinding& f : crash->findings) report.findings.push_back(f.finding);
  return std::move(crash->findings);
}

// None: nothing is.
Result<std::optional<Trusted>> trustedBy(const CheckOptions& options, const Trace& trace) {
  if (options.pmdk) {
    auto trusted = Trusted::pmdk(trace, options.trust);
    if (trusted && !*trusted)
      return fail(
          "--pmdk: the program loaded none of PMDK's libraries (libpmem, libpmemobj ...); leave the option out");
    return trusted;
  }
  if (options.trust.empty()) return std::optional<Trusted>();
  auto trusted = Trusted::of(trace, options.trust);
  if (!trusted) return tl::unexpected(trusted.error());
  return std::optional<Trusted>(std::move(*trusted));
}

// What the preset leaves out beyond what every trusted object does.
void sayLeftOutByPmdk(Report& report) {
  report.notes.emplace_back(
      "--pmdk takes PMDK's libraries for right: the power fails only before their calls, and nothing is said of what "
      "they store, flush and read for themselves. Without the option their insides are explored too.");
  for (const PoolSummary& pool : report.pools)
    if (pool.created)
      report.notes.push_back(
          fmt::format("{} is made in the recorded run, and crashes inside the call that makes it are left out by "
                      "--pmdk: make the pool beforehand, so that the run is about your own operations, and check its "
                      "creation by itself without the option.",
                      pool.path));
}

// What came of one recording.
struct Judged {
  Report report;
  std::vector<ReplayableFinding> replayable;
};

Result<Judged> judgeRecording(Recording& recording, const CheckOptions& options) {
  auto trace = Trace::open(recording.tracePath);
  if (!trace) return tl::unexpected(trace.error());
  // Who recorded has looked already.
  if (options.record.command.empty()) recording.unseenReason = unseenReason(*trace);
  auto index = Index::build(*trace, options.model);
  if (!index) return tl::unexpected(index.error());
  auto trusted = trustedBy(options, *trace);
  if (!trusted) return tl::unexpected(trusted.error());
  Report report = judgeTrace(*index, recording, options, trusted->has_value() ? &**trusted : nullptr);
  if (options.pmdk) sayLeftOutByPmdk(report);
  std::vector<ReplayableFinding> replayable;
  if (options.crash && !recording.unseenReason.empty()) {
    report.notes.emplace_back("Crashes were not explored, because not all that touched persistent memory was seen.");
  } else if (options.crash && options.crash->interrupt != nullptr && options.crash->interrupt->load()) {
    report.incomplete.emplace_back("Crashes were not explored, because an interrupt ended the check before.");
  } else if (options.crash) {
    CrashOptions crash = *options.crash;
    crash.recordedStatus = report.run.waitStatus.value_or(0);
    crash.recordedInput = recording.readInput;
    crash.detect = options.detect;
    if (options.record.schedule.controlled())
      crash.program.options.set("schedule", Schedule::usual().text());
    if (*trusted) crash.points.trusted = &**trusted;
    // The runtime kept there what other files were like.
    if (recording.folder) crash.program.before = (recording.folder->path() / "before").string();
    if (std::uint64_t top = heapTop(*trace); top != 0) crash.program.options.set("heaptop", top);
    auto shown = exploreCrashes(*index, crash, report);
    if (!shown) return tl::unexpected(shown.error());
    replayable = std::move(*shown);
  }
  resolvePlaces(report, *trace);
  joinUnlogged(report.findings);
  applySuppressions(report, options.suppressions);
  applyOnly(report, options.only);
  sortFindings(report.findings);
  report.command = options.record.command;
  return Judged{std::move(report), std::move(replayable)};
}

// The report as it is given away.
Report finished(Judged judged, const CheckOptions& options) {
  if (options.readySuppressions) judged.report.readySuppressions = suppressionsFor(judged.report.findings);
  saveReplays(judged.report, judged.replayable, options.findings);
  return std::move(judged.report);
}

// Of a trace, what a check under several schedules asks: how many steps its threads made, and a hash of all else that
// is in it, so that two schedules under which the program did the same are one.
struct ScheduledRun {
  std::uint64_t steps = 0;
  std::uint64_t hash = 0;
};
Result<ScheduledRun> scheduledRun(const std::string& path) {
  auto trace = Trace::open(path);
  if (!trace) return tl::unexpected(trace.error());
  ScheduledRun run;
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (EventNo n = 0; n < trace->end(); n = trace->next(n)) {
    Event e = (*trace)[n];
    if (kindOf(e) == EventKind::Switch) {
      run.steps = std::max(run.steps, e.addr);
      continue;
    }
    if (kindOf(e) == EventKind::ThreadBegin) e.value = 0;  // the kernel's number
    XXH3_64bits_update(&state, &e, sizeof e);
    if (hasPayload(e)) {
      std::string_view payload = trace->payload(n);
      XXH3_64bits_update(&state, payload.data(), payload.size());
    }
  }
  run.hash = XXH3_64bits_digest(&state);
  return run;
}

Result<Report> finishedReport(Result<Judged> judged, const CheckOptions& options) {
  if (!judged) return tl::unexpected(judged.error());
  return finished(std::move(*judged), options);
}

bool interrupted(const CheckOptions& options) {
  return options.crash && options.crash->interrupt != nullptr && options.crash->interrupt->load();
}

Result<Report> checkSchedules(CheckOptions options) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point began = Clock::now();
  double seconds = options.crash ? options.crash->seconds : 0;
  options.record.pinTime = true;
  Judged all;
  std::set<std::uint64_t> seen;
  std::uint64_t steps = 0, made = 0;
  for (std::uint64_t n = 0; n < options.schedules; ++n) {
    options.record.schedule = Schedule::varied(n, options.scheduleSeed, steps);
    auto recording = record(options.record);
    if (!recording) return tl::unexpected(recording.error());
    auto run = scheduledRun(recording->tracePath);
    if (!run) return tl::unexpected(run.error());
    ++made;
    steps = std::max(steps, run->steps);
    bool alone = run->steps == 0;
    if (seen.insert(run->hash).second) {
      if (seconds != 0)
        options.crash->seconds = std::max(1e-3, seconds - std::chrono::duration<double>(Clock::now() - began).count());
      auto judged = judgeRecording(*recording, options);
      if (!judged) return tl::unexpected(judged.error());
      std::string schedule = options.record.schedule.text();
      for (Finding& f : judged->report.findings) f.schedule = schedule;
      for (ReplayableFinding& f : judged->replayable) f.finding.schedule = schedule;
      all.report += judged->report;
      all.replayable.insert(all.replayable.end(), std::make_move_iterator(judged->replayable.begin()),
                            std::make_move_iterator(judged->replayable.end()));
    }
    if (alone) {
      all.report.notes.emplace_back("The program has one thread: there is one schedule.");
      return finished(std::move(all), options);
    }
    bool over = seconds != 0 && std::chrono::duration<double>(Clock::now() - began).count() >= seconds;
    if (interrupted(options) || (over && n + 1 < options.schedules)) {
      all.report.incomplete.push_back(
          fmt::format("{} of {} schedules were tried.", made, options.schedules));
      break;
    }
  }
  all.report.notes.push_back(fmt::format("The program ran under {}, in {} different from each other.",
                                         counted(made, "schedule"), counted(seen.size(), "way")));
  return finished(std::move(all), options);
}

}  // namespace

Result<Report> check(const CheckOptions& options) {
  if (!options.record.command.empty()) {
    if (options.schedules > 1) return checkSchedules(options);
    auto recording = record(options.record);
    if (!recording) return tl::unexpected(recording.error());
    return finishedReport(judgeRecording(*recording, options), options);
  }
  Recording recording;
  recording.tracePath = options.trace;
  return finishedReport(judgeRecording(recording, options), options);
}

}  // namespace blackout
