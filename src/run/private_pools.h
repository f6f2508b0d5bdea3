// The private copies that a recording works on: the patterns of --pm made canonical, the files that
// they match now copied below one private folder, and their content written to the beginning of the
// trace. The user's files are only read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "events/error.h"
#include "events/pool_pattern.h"
#include "events/trace_writer.h"

namespace blackout {

// A folder of ours in the temporary folder (TMPDIR), readable by nobody else, gone with this object. One that a
// killed process left behind is removed by the next one that makes its own.
class PrivateFolder {
 public:
  enum Kind { OnDisk, InMemory };  // in memory where there is such a file system and no TMPDIR says otherwise
  static Result<PrivateFolder> make(Kind kind = OnDisk);
  PrivateFolder(PrivateFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}
  PrivateFolder& operator=(PrivateFolder&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(lock_, other.lock_);
    return *this;
  }
  ~PrivateFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  PrivateFolder(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::filesystem::path path_;
  int lock_ = -1;  // held while it is in use
};

Result<std::vector<PoolPattern>> canonicalPatterns(const std::vector<std::string>& pm);

// Copies every file that the patterns match to `shadow` + its path, and begins the trace with it.
Result<void> copyPools(const std::vector<PoolPattern>& patterns, const std::filesystem::path& shadow,
                       TraceWriter& trace);

// Begins the trace with the empty pool of a persistent heap: it is there before any crash.
Result<void> makeHeap(unsigned mebibytes, const std::filesystem::path& shadow, TraceWriter& trace);

}  // namespace blackout
