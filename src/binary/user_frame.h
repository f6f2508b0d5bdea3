// Which call of a stack a reader looks for: his own code, not the header of a library that was inlined into it.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "binary/frame.h"

namespace blackout {

// In a header that came with the system or the compiler: std::atomic, an iterator, a wrapper of an intrinsic.
inline bool inSystemHeader(const Frame& f) {
  std::string_view file = f.file;
  return file.starts_with("/usr/include/") || file.starts_with("/usr/local/include/") ||
         file.starts_with("/usr/lib/") || file.find("/include/c++/") != std::string_view::npos ||
         file.find("/lib/clang/") != std::string_view::npos;
}

// In a library of the languages: where its debug information is installed, libc has lines too.
inline bool inSystemLibrary(const Frame& f) {
  std::string_view module = f.module;
  std::string_view name = module.substr(module.rfind('/') + 1);
  return name.starts_with("libc.so.") || name.starts_with("libm.so.") || name.starts_with("libstdc++.so.") ||
         name.starts_with("libpthread.so.");
}

// The place in a stack of the first call outside of both; a call in such a library if there is no other; 0 if there is
// none at all.
inline std::size_t userFrame(const std::vector<Frame>& stack) {
  auto written = [](const Frame& f) { return !f.file.empty() && !inSystemHeader(f); };
  auto own =
      std::find_if(stack.begin(), stack.end(), [&](const Frame& f) { return written(f) && !inSystemLibrary(f); });
  if (own == stack.end()) own = std::find_if(stack.begin(), stack.end(), written);
  return own == stack.end() ? 0 : static_cast<std::size_t>(own - stack.begin());
}

// Of the program itself: not of a shared library, nor of such a header.
inline bool inProgram(const Frame& f) {
  std::string_view module = f.module;
  std::string_view name = module.substr(module.rfind('/') + 1);
  return !f.file.empty() && !inSystemHeader(f) && name.find(".so") == std::string_view::npos;
}

}  // namespace blackout
