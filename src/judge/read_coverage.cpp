#include "judge/read_coverage.h"

#include <bit>
#include <map>

#include "events/trace.h"
#include "judge/state_probe.h"
#include "model/interest.h"

namespace blackout {

ReadCoverage readCoverage(const Explorer& explorer, const Index& recording, const TrackedBytes& tracked,
                          const Trusted* libraries) {
  std::map<LineId, std::uint64_t> own, all;
  const Trace& trace = recording.trace();
  WantedCrashes crashes;
  EventNo told = 0;
  for (StoreNo s : idRange<StoreNo>(recording.stores().size())) {
    // Where the program wants no crash, nothing is to be read after one.
    for (; told < recording.stores()[s].event; told = trace.next(told))
      if (crashes.event(kindOf(trace[told]))) own.clear(), all.clear();
    if (!crashes.wanted()) continue;
    std::uint64_t mask = maskOf(recording, s);
    all[recording.stores()[s].line] |= mask;
    if (libraries == nullptr || !libraries->inside(recording.stores()[s].event))
      own[recording.stores()[s].line] |= mask;
  }
  std::map<TrackedNo, std::uint64_t> read = explorer.readBytes();
  ReadCoverage coverage;
  for (auto [line, mask] : own.empty() ? all : own) {
    coverage.stored += static_cast<std::uint64_t>(std::popcount(mask));
    auto it = read.find(tracked.find(recording.lineNo(line)));
    if (it != read.end()) coverage.read += static_cast<std::uint64_t>(std::popcount(mask & it->second));
  }
  return coverage;
}

}  // namespace blackout
