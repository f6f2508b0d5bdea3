// What was inferred of arrays and counters, kept for the next time that the same code is asked about: by what the code
// is (its bitcode) and by the tool that inferred it (its build id), so that a program or a tool that has changed finds
// nothing. Files are the user's own, few and small; one that is damaged, or that somebody else could have written, is
// as good as none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "infer/counting.h"
#include "infer/program_bitcode.h"

namespace blackout {

class CountingCache {
 public:
  static constexpr std::size_t kMostFiles = 64;
  static constexpr std::uint64_t kMostBytes = 32 << 20;  // of all of them

  // In a folder, which is made if its parent is there.
  explicit CountingCache(std::string folder) : folder_(std::move(folder)) {}
  // $XDG_CACHE_HOME/blackout, or .cache/blackout in $HOME; nothing if there is neither.
  static std::optional<CountingCache> ofUser();

  std::optional<CountingProperties> find(const std::string& key) const;
  // What can't be kept is not: it is inferred again the next time.
  void keep(const std::string& key, const CountingProperties& counting) const;

 private:
  bool isOurs() const;
  void makeRoom(std::uint64_t size) const;
  std::string pathOf(const std::string& key) const { return folder_ + "/counting-" + key; }

  std::string folder_;
};

// Empty: the tool can't tell itself from another build, so nothing may be kept.
std::string cacheKey(const ProgramBitcode& program, bool all);

// For tests: the bytes of a file.
std::string toBytes(const CountingProperties& counting);
std::optional<CountingProperties> fromBytes(std::string_view bytes);

}  // namespace blackout
