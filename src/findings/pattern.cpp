#include "findings/pattern.h"

#include <cstddef>

namespace blackout {

bool matchesGlob(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  // Where the last '*' stands and what it takes up to now. A later star makes the choices of the earlier ones final, so
  // the time is at most the product of the lengths.
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool matchesPath(std::string_view pattern, std::string_view path) {
  if (path.empty()) return false;
  if (matchesGlob(pattern, path)) return true;
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1))
    if (slash + 1 < path.size() && matchesGlob(pattern, path.substr(slash + 1))) return true;
  return false;
}

std::string_view withoutParameters(std::string_view function) {
  // Behind the parameters come qualifiers only: const, volatile, &, &&, noexcept, [clone .cold], [abi:cxx11].
  std::size_t close = function.rfind(')');
  if (close == std::string_view::npos || function.find("::", close) != std::string_view::npos) return function;
  int depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    if (function[i] == ')') ++depth;
    if (function[i] == '(' && --depth == 0) return i == 0 ? function : function.substr(0, i);
  }
  return function;
}

bool matchesFunction(std::string_view pattern, std::string_view function) {
  if (function.empty()) return false;
  return matchesGlob(pattern, function) || matchesGlob(pattern, withoutParameters(function));
}

}  // namespace blackout
