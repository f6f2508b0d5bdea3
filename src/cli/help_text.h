// Help, man pages and completions of the subcommands, all from the same declarations.
#pragma once

#include <string>

#include "cli/subcommand.h"

namespace blackout::cli {

std::string overviewText();
std::string helpText(const Subcommand& subcommand);

// scdoc source of a man page: of the subcommand, or of `blackout` itself for null.
std::string manText(const Subcommand* subcommand);

// A completion script for bash, which zsh's bashcompinit reads too.
std::string bashCompletion();

// "did you mean ...": the candidate that is nearest to what was typed, or empty if none is near.
std::string nearest(const std::string& typed, const std::vector<std::string>& candidates);

// The long and short names of all options of an app.
std::vector<std::string> optionNames(const CLI::App& app);

}  // namespace blackout::cli
