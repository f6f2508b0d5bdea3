// Help and man pages of the subcommands, from their declarations.
#pragma once

#include <string>

#include "cli/subcommand.h"
#include "findings/finding.h"

namespace blackout::cli {

std::string overviewText();
std::string helpText(const Subcommand& subcommand);

// scdoc source of a man page: of the subcommand, or of `blackout` itself for null.
std::string manText(const Subcommand* subcommand);

// What a kind of finding means, and what to do about it.
std::string kindText(const FindingKindRow& row);
// What no result speaks of.
std::string limitsText();

// "did you mean ...": the candidate that is nearest to what was typed, or empty if none is near.
std::string nearest(const std::string& typed, const std::vector<std::string>& candidates);

// The long and short names of all options of an app.
std::vector<std::string> optionNames(const CLI::App& app);

}  // namespace blackout::cli
