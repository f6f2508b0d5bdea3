#include "run/self_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "events/trace.h"
#include "model/files_at_end.h"

namespace fs = std::filesystem;

namespace blackout {

namespace {

// Memory that a program registered need not fill its pages: what else lies on them is not PM, so
// only what was mapped counts.
std::vector<PmRange> mappedRanges(const Trace& trace) {
  std::vector<PmRange> ranges;
  for (EventNo n : trace.rare())
    if (kindOf(trace[n]) == EventKind::Map) ranges.push_back(PmRange::at(trace[n].addr, trace.mapping(n).size));
  return ranges;
}

bool isRegistered(const ReplayedFile& file) { return file.path.rfind("/registered/", 0) == 0; }

}  // namespace

Result<std::vector<std::string>> unexplainedBytes(const Trace& trace, const fs::path& shadow) {
  constexpr std::size_t kNamed = 4;
  std::vector<std::string> words;
  std::vector<PmRange> mapped = mappedRanges(trace);
  for (const ReplayedFile& file : replay(trace)) {
    if (file.number == 0 || file.removed) continue;
    fs::path copy = shadow / fs::path(file.path).relative_path();
    std::error_code error;
    if (!fs::exists(copy, error)) {
      words.push_back(fmt::format("{}: it should be there and is not", file.path));
      continue;
    }
    auto differences =
        firstDifferences(file, copy.string(), isRegistered(file) ? SIZE_MAX : kNamed + 1, [&] { trace.forgetPages(); });
    if (!differences) return tl::unexpected(differences.error());
    if (isRegistered(file))
      std::erase_if(*differences, [&](const PmRange& d) {
        return std::none_of(mapped.begin(), mapped.end(), [&](const PmRange& m) { return d.overlaps(m); });
      });
    for (std::size_t i = 0; i < differences->size() && i < kNamed; ++i) {
      const PmRange& r = (*differences)[i];
      words.push_back(fmt::format("{}: bytes {:#x} to {:#x}", file.path, offsetOf(r.begin), offsetOf(r.end)));
    }
    if (differences->size() > kNamed) words.push_back(fmt::format("{}: and more", file.path));
  }
  return words;
}

}  // namespace blackout
