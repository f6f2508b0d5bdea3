#include "judge/intact.h"

#include <algorithm>
#include <chrono>

#include "events/trace.h"

namespace blackout {

Result<IntactRestart> restartIntact(const Baseline& end, Runner& runner, Stacks& stacks) {
  const Index& index = end.index();
  IntactRestart intact{CrashLevel(end.point(0), UnnamedLines::Newest), {}, {}, 0};
  Run request;
  for (TrackedNo w : end.uncertain(0)) {
    LineId id = index.lineId(end.tracked().line(w));
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
    if (auto trace = Trace::open(intact.result.tracePath)) intact.endedAt = stacks.endOf(*trace, intact.result.outcome);
  // The first run has paid for what the others share.
  auto begun = std::chrono::steady_clock::now();
  if (auto again = run(false); !again) return tl::unexpected(again.error());
  intact.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return intact;
}

}  // namespace blackout
