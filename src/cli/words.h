// A command in one option's value (--recover, --checker) as the words of a program and its arguments: quotes and
// backslashes as in a shell, but no shell is run, so whatever only a shell could do is refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/error.h"

namespace blackout::cli {

// `option` names the option in the complaint.
Result<std::vector<std::string>> splitWords(std::string_view text, std::string_view option);

}  // namespace blackout::cli
