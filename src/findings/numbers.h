// Numbers in sentences, the same whatever the locale.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace blackout {

// 1234567 -> "1,234,567"
inline std::string grouped(std::uint64_t n) {
  std::string s = std::to_string(n);
  for (std::size_t i = s.size(); i > 3; i -= 3) s.insert(i - 3, ",");
  return s;
}

// "1 point", "1,204 points", "2 crashes"
inline std::string counted(std::uint64_t n, std::string_view noun) {
  return grouped(n) + " " + std::string(noun) + (n == 1 ? "" : noun.ends_with("sh") ? "es" : "s");
}

// A count that is known by its decimal logarithm: "12,345", "about 10^123".
inline std::string countOfLog10(double log10) {
  return log10 < 6 ? grouped(static_cast<std::uint64_t>(std::llround(std::pow(10.0, log10))))
                   : fmt::format("about 10^{:.0f}", log10);
}

}  // namespace blackout
