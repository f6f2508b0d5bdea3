#include "check/schedules.h"

#include <fmt/format.h>
#define XXH_STATIC_LINKING_ONLY  // for a state on the stack
#include <xxhash.h>

#include <algorithm>
#include <optional>
#include <set>

#include "check/candidates.h"
#include "check/several_recordings.h"
#include "check/shrink.h"
#include "events/trace.h"
#include "findings/numbers.h"
#include "run/all_schedules.h"

namespace blackout {

namespace {

// Of a trace, what a check under several schedules asks: how many steps its threads made, and a hash of all else that
// is in it, so that two schedules under which the program did the same are one.
struct ScheduledRun {
  std::uint64_t steps = 0;
  std::uint64_t hash = 0;
};
ScheduledRun scheduledRun(const Trace& trace) {
  ScheduledRun run;
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    Event e = trace[n];
    if (kindOf(e) == EventKind::Switch) {
      run.steps = std::max(run.steps, e.addr & UINT32_MAX);
      continue;
    }
    if (kindOf(e) == EventKind::ThreadBegin) e.value = 0;  // the kernel's number
    XXH3_64bits_update(&state, &e, sizeof e);
    if (hasPayload(e)) {
      std::string_view payload = trace.payload(n);
      XXH3_64bits_update(&state, payload.data(), payload.size());
    }
  }
  run.hash = XXH3_64bits_digest(&state);
  return run;
}

}  // namespace

Result<void> checkSchedules(CheckOptions given, Judged& all) {
  if (auto ok = refuseResume(given); !ok) return ok;
  RecordingsInTurn recordings(std::move(given));
  CheckOptions& options = recordings.options;
  const Patience& patience = recordings.patience;
  options.record.pinTime = true;
  std::optional<AllSchedules> every;
  if (options.preemptions) every.emplace(*options.preemptions, options.model.tso);
  options.record.steps = every.has_value();
  std::set<std::uint64_t> seen;
  std::uint64_t steps = 0, made = 0;
  std::string unfinished;
  for (;;) {
    std::optional<Schedule> next = every ? every->next() : Schedule::varied(made, options.scheduleSeed, steps);
    if (next && options.model.tso) next = next->withBuffers(made);
    if (!next || made == options.schedules) {
      if (every && (next || !every->complete())) unfinished = fmt::format("{} were tried, and there are more", made);
      break;
    }
    options.record.schedule = *next;
    auto recording = recordings.next();
    if (!recording) return tl::unexpected(recording.error());
    std::shared_ptr<const Trace> trace = recording->trace;
    ScheduledRun run = scheduledRun(*trace);
    if (every) every->ran(*trace);
    ++made;
    steps = std::max(steps, run.steps);
    if (seen.insert(run.hash).second) {
      auto judged = recordings.judge(*recording);
      if (!judged) return tl::unexpected(judged.error());
      all.add(std::move(*judged), options.record.schedule.text());
    }
    if (run.steps == 0) {
      all.report.notes.emplace_back("The program has one thread, so there is one schedule.");
      return {};
    }
    if (made == 1 && options.crash) {
      options.crash->seconds = patience.left();
      if (auto ok = checkCandidates(options, all); !ok) return ok;
    }
    if (patience.ending()) {
      if (every || made < options.schedules) unfinished = fmt::format("{} were tried", made);
      break;
    }
  }
  options.record.steps = false;
  if (options.crash) options.crash->seconds = patience.left();
  if (!patience.ending())
    if (auto ok = shrinkSchedules(options, all); !ok) return ok;
  if (every)
    all.report.notes.push_back(fmt::format(
        "The program ran under {} with at most {}, which gave {} different from "
        "each other.",
        counted(made, "schedule"), counted(*options.preemptions, "preemption"), counted(seen.size(), "run")));
  else
    all.report.notes.push_back(fmt::format("The program ran under {}, which gave {} different from each other.",
                                           counted(made, "schedule"), counted(seen.size(), "run")));
  if (!unfinished.empty())
    all.report.incomplete.push_back(every ? fmt::format("Of all schedules with at most {}, {}.",
                                                        counted(*options.preemptions, "preemption"), unfinished)
                                          : fmt::format("{} of {} schedules were tried.", made, options.schedules));
  return {};
}

}  // namespace blackout
