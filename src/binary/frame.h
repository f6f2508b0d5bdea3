// One call of a stack, as a person reads it.
#pragma once

#include <cstdint>
#include <string>

namespace blackout {

// `inlined`: its code stands in the frame that follows.
struct Frame {
  std::string function;  // demangled; empty: unknown
  std::string file;      // as the compiler wrote it; empty: unknown
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string module;  // path of the program file; empty: unknown
  bool inlined = false;
  bool operator==(const Frame&) const = default;
};

}  // namespace blackout
