#include "explore/self_check.h"

#include <fmt/format.h>

#include "model/replay.h"

namespace fs = std::filesystem;

namespace blackout {

Result<std::vector<std::string>> unexplainedBytes(const Trace& trace, const fs::path& shadow) {
  constexpr std::size_t kNamed = 4;
  std::vector<std::string> words;
  for (const ReplayedFile& file : replay(trace)) {
    if (file.number == 0 || file.removed) continue;
    fs::path copy = shadow / fs::path(file.path).relative_path();
    std::error_code error;
    if (!fs::exists(copy, error)) {
      words.push_back(fmt::format("{}: it should be there and is not", file.path));
      continue;
    }
    auto differences = firstDifferences(file, copy.string(), kNamed + 1);
    if (!differences) return tl::unexpected(differences.error());
    for (std::size_t i = 0; i < differences->size() && i < kNamed; ++i) {
      const PmRange& r = (*differences)[i];
      words.push_back(fmt::format("{}: bytes {:#x} to {:#x}", file.path, offsetOf(r.begin), offsetOf(r.end)));
    }
    if (differences->size() > kNamed) words.push_back(fmt::format("{}: and more", file.path));
  }
  return words;
}

}  // namespace blackout
