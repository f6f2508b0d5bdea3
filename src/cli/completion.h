// Completion of commands and options in shells, from the declarations that the help is made of.
#pragma once

#include <optional>
#include <string>

namespace blackout::cli {

// The script for a shell: bash, zsh or fish. None: there is none for it.
std::optional<std::string> completionFor(const std::string& shell);

}  // namespace blackout::cli
