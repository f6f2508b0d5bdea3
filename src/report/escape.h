// Strings that a program under test controls (paths, names of operations, source lines) must not
// steer the terminal: control characters, broken UTF-8 and invisible direction marks are shown as
// escapes. Every string that reaches a text rendering goes through here.
#pragma once

#include <string>
#include <string_view>

namespace blackout {

std::string escapeText(std::string_view text);

}  // namespace blackout
