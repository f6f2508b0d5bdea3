// What the tool tells the runtime inside a program: BLACKOUT_OPTIONS, ":key=value" after ":key=value"
// (events/options.def is the table of keys).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "events/pool_pattern.h"

namespace blackout {

// Whether code that was not compiled by Blackout is followed by traps (runtime/trap): as the runtime's option.
enum class Trap : unsigned { Never = 0, Always = 1, IfNeeded = 2 };

class RuntimeOptions {
 public:
  RuntimeOptions() = default;
  // As text() gave it, or a user's own.
  explicit RuntimeOptions(std::string text) : text_(std::move(text)) {}

  // What separates options is escaped in a value. A later setting wins.
  RuntimeOptions& set(std::string_view key, std::string_view value);
  RuntimeOptions& set(std::string_view key, std::uint64_t value);
  RuntimeOptions& set(Trap trap) { return set("trap", static_cast<std::uint64_t>(trap)); }
  RuntimeOptions& pools(std::span<const PoolPattern> patterns);
  // The client that talks to each restart (runtime/drive.h).
  RuntimeOptions& client(const std::vector<std::string>& command);
  RuntimeOptions& append(const RuntimeOptions& more);

  const std::string& text() const { return text_; }
  bool operator==(const RuntimeOptions&) const = default;

 private:
  std::string text_;
};

}  // namespace blackout
