#include "judge/intact.h"

#include <algorithm>
#include <chrono>

#include "events/trace.h"

namespace blackout {

std::vector<EventNo> uncrashedPoints(const Trace& trace) {
  if (trace.end() == 0) return {0};
  return {0, trace.end()};
}

Result<RunEnd> restartBefore(Runner& runner) { return runner.run({}); }

Result<IntactRestart> restartIntact(const Baseline& ends, Runner& runner, Stacks& stacks) {
  const Index& index = ends.index();
  PointNo last(ends.count() - 1);
  IntactRestart intact{CrashLevel(ends.point(last), UnnamedLines::Newest), {}, {}, {}, 0};
  Run request;
  request.pointNo = last;
  for (TrackedNo w : ends.uncertain(last)) {
    LineId id = index.lineId(ends.tracked().line(w));
    request.lines.emplace_back(w, index.contentOf(id, intact.level.at, index.versionIn(intact.level, id)));
  }
  auto run = [&](bool traced) -> Result<RunEnd> {
    request.traced = traced;
    return runner.run(request);
  };
  auto traced = run(true);
  if (!traced) return tl::unexpected(traced.error());
  intact.result = std::move(*traced);
  if (!intact.result.tracePath.empty())
    if (auto trace = Trace::open(intact.result.tracePath)) {
      intact.endedAt = stacks.endOf(*trace, intact.result.outcome);
      intact.recovery.addRecovery(*trace);
    }
  // The first run has paid for what the others share.
  auto begun = std::chrono::steady_clock::now();
  auto again = run(false);
  if (!again) return tl::unexpected(again.error());
  intact.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  intact.executing = static_cast<double>(again->executing) / 1e9;
  return intact;
}

}  // namespace blackout
