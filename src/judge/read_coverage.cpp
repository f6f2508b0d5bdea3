#include "judge/read_coverage.h"

#include <bit>
#include <map>

#include "events/trace.h"
#include "judge/state_probe.h"

namespace blackout {

ReadCoverage readCoverage(const Explorer& explorer, const Index& recording, const TrackedBytes& tracked,
                          const Trusted* libraries) {
  std::map<LineId, std::uint64_t> own, all;
  for (StoreNo s : idRange<StoreNo>(recording.stores().size())) {
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
