#include "explore/version_choice.h"

#include <algorithm>

namespace blackout {

std::optional<std::uint32_t> versionWith(const UncertainLine& line, const std::vector<std::uint32_t>& kept,
                                         const std::vector<std::uint32_t>& lost, OtherStores others) {
  std::optional<std::uint32_t> best;
  std::size_t bestSize = 0;
  for (std::uint32_t v = 0; v < line.versions.size(); ++v) {
    const Version& version = line.versions[v].version;
    auto has = [&](std::uint32_t store) { return version.contains(store); };
    if (std::any_of(lost.begin(), lost.end(), has) || !std::all_of(kept.begin(), kept.end(), has)) continue;
    const std::size_t size = version.size();
    if (best && (others == OtherStores::Most ? size <= bestSize : size >= bestSize)) continue;
    best = v;
    bestSize = size;
  }
  return best;
}

}  // namespace blackout
