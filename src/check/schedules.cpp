#include "check/schedules.h"

#include <fmt/format.h>
#define XXH_STATIC_LINKING_ONLY  // for a state on the stack
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "events/trace.h"
#include "findings/numbers.h"

namespace blackout {

namespace {

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

bool interrupted(const CheckOptions& options) {
  return options.crash && options.crash->interrupt != nullptr && options.crash->interrupt->load();
}

}  // namespace

Result<void> checkSchedules(CheckOptions options, Judged& all) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point began = Clock::now();
  auto spent = [&] { return std::chrono::duration<double>(Clock::now() - began).count(); };
  double seconds = options.crash ? options.crash->seconds : 0;
  options.record.pinTime = true;
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
    if (seen.insert(run->hash).second) {
      if (seconds != 0) options.crash->seconds = std::max(1e-3, seconds - spent());
      auto judged = judgeRecording(*recording, options);
      if (!judged) return tl::unexpected(judged.error());
      all.add(std::move(*judged), options.record.schedule.text());
    }
    if (run->steps == 0) {
      all.report.notes.emplace_back("The program has one thread, so there is one schedule.");
      return {};
    }
    if (n + 1 < options.schedules && (interrupted(options) || (seconds != 0 && spent() >= seconds))) {
      all.report.incomplete.push_back(fmt::format("{} of {} schedules were tried.", made, options.schedules));
      break;
    }
  }
  all.report.notes.push_back(fmt::format("The program ran under {}, which gave {} different from each other.",
                                         counted(made, "schedule"), counted(seen.size(), "run")));
  return {};
}

}  // namespace blackout
