// Patterns by which users name functions, source files and objects (program files and shared libraries), in
// suppressions and with --trust. Only '*' (anything, slashes included) and '?' (one character) are special, so that
// operator[] and the like can be written as they are. A pattern without them names a whole function, or whole
// components at the end of a path: a.c and src/a.c match /x/src/a.c, and rc/a.c does not.
#pragma once

#include <string_view>

namespace blackout {

bool matchesGlob(std::string_view pattern, std::string_view text);

// The end of the path, from the beginning of any of its components on.
bool matchesPath(std::string_view pattern, std::string_view path);

// A demangled name, with or without its parameters: both f(int) and f match f(int).
bool matchesFunction(std::string_view pattern, std::string_view function);

// f(int) const -> f; what has no parameters stays as it is.
std::string_view withoutParameters(std::string_view function);

}  // namespace blackout
