#include "findings/run_summary.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "events/trace.h"
#include "findings/numbers.h"
#include "model/interest.h"

namespace blackout {

namespace {

struct ProblemRow {
  std::uint32_t bit;
  std::string_view sentence;
};

// The bits of trace_format.h, one sentence with the cure each.
constexpr std::array kProblems = {
    ProblemRow{BLACKOUT_PROBLEM_DISK,
               "There was no room left for the trace, so recording stopped in the middle; make room or keep the trace "
               "elsewhere with --trace FILE."},
    ProblemRow{BLACKOUT_PROBLEM_FILES, "The program used more pool files than a trace can hold; name fewer with --pm."},
    ProblemRow{BLACKOUT_PROBLEM_SIGNAL,
               "A signal handler touched persistent memory while an event was being recorded; that event is missing."},
    ProblemRow{BLACKOUT_PROBLEM_CONTRACT,
               "A program file was built for another version of Blackout and was not recorded; build it again."},
    ProblemRow{BLACKOUT_PROBLEM_UNSUPPORTED, "The program did something that the recorder can't follow."},
    ProblemRow{BLACKOUT_PROBLEM_STOPPED,
               "Blackout ended the program, because it could not continue; its last line says why."},
    ProblemRow{BLACKOUT_PROBLEM_UNEXPLAINED,
               "The trace does not explain what the program left in its pools: something wrote there that Blackout "
               "does not see."},
    ProblemRow{BLACKOUT_PROBLEM_THREADS, "The program had more threads than a trace can name; run it with fewer."},
};

void tellUnmatched(const Trace& trace, Report& report) {
  UnmatchedEnds ends = unmatchedEnds(trace);
  auto tell = [&](std::uint64_t times, std::string_view call, std::string_view begin) {
    if (times != 0)
      report.notes.push_back(fmt::format("{} was called {} without a {} before it, which does nothing.", call,
                                         times == 1 ? "once" : counted(times, "time"), begin));
  };
  tell(ends.regions, "blackout_roi_end", "blackout_roi_begin");
  tell(ends.skippedCrashes, "blackout_skip_failures_end", "blackout_skip_failures_begin");
  tell(ends.skippedDetection, "blackout_skip_detection_end", "blackout_skip_detection_begin of the same thread");
}

}  // namespace

void summarise(const Trace& trace, Report& report) {
  RunSummary& run = report.run;
  run.events = 0;
  for (int kind = 0; kind < 256; ++kind) {
    auto k = static_cast<EventKind>(kind);
    std::uint64_t count = trace.count(k);
    switch (groupOf(k)) {
      case EventGroup::Store:
        run.stores += count;
        break;
      case EventGroup::Load:
        run.loads += count;
        break;
      case EventGroup::Flush:
        run.flushes += count;
        break;
      case EventGroup::Fence:
        if (k != EventKind::Lfence) run.fences += count;
        break;
      case EventGroup::Table:
        continue;  // these say where events come from; they did not happen
      default:
        break;
    }
    run.events += count;
  }
  run.operations += trace.count(EventKind::OpBegin);
  IdVector<FileNo, std::uint64_t> sizes(trace.files().size());
  for (EventNo n : trace.rare()) {
    const Event& e = trace[n];
    if (kindOf(e) == EventKind::FileSize) sizes[fileOf(e.addr)] = e.value;
    if (kindOf(e) == EventKind::End) run.waitStatus = static_cast<int>(e.value);
  }
  run.threads = trace.threadCount();
  run.recordings = 1;
  tellUnmatched(trace, report);
  for (const PoolFile& f : trace.files())
    if (f.number != 0) report.pools.push_back({f.path, sizes[f.number], !f.before, f.removed});

  if (!trace.sealed())
    report.incomplete.emplace_back(
        "The trace has no end: the program still runs, or its recording was killed; wait for it, or record again.");
  for (const ProblemRow& row : kProblems)
    if ((trace.problems() & row.bit) != 0) report.incomplete.emplace_back(row.sentence);
  if (trace.lost() != 0) report.incomplete.push_back(fmt::format("{} events could not be recorded.", trace.lost()));
}

}  // namespace blackout
