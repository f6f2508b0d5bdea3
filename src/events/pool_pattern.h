// Which paths are pool files, as the tool tells it to the runtime (the words `pm` and `glob` of options.def).
#pragma once

#include <compare>
#include <string>

namespace blackout {

// What the runtime matches paths against: an absolute path, a folder (with / at the end) or a glob. A
// path through symbolic links stands there both ways.
struct PoolPattern {
  std::string text;
  bool glob = false;
  auto operator<=>(const PoolPattern&) const = default;
};

}  // namespace blackout
