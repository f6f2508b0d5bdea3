// The private copies that a recording works on: the patterns of --pm made canonical, the files that
// they match now copied below one private folder, and their content written to the beginning of the
// trace. The user's files are only read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "events/error.h"
#include "events/trace_writer.h"

namespace blackout {

// A folder of ours in the temporary folder (TMPDIR), readable by nobody else, gone with this object.
class PrivateFolder {
 public:
  static Result<PrivateFolder> make();
  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  PrivateFolder& operator=(PrivateFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~PrivateFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit PrivateFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// What the runtime matches paths against: an absolute path, a folder (with / at the end) or a glob. A
// path through symbolic links stands there both ways.
struct PoolPattern {
  std::string text;
  bool glob = false;
  auto operator<=>(const PoolPattern&) const = default;
};
Result<std::vector<PoolPattern>> canonicalPatterns(const std::vector<std::string>& pm);

// Copies every file that the patterns match to `shadow` + its path, and begins the trace with it.
Result<void> copyPools(const std::vector<PoolPattern>& patterns, const std::filesystem::path& shadow,
                       TraceWriter& trace);

}  // namespace blackout
