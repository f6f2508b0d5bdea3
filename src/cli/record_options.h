// The options of everything that runs a program: `blackout record` and `blackout check`.
#pragma once

#include "cli/cli11.h"
#include "cli/subcommand.h"
#include "run/recording.h"

namespace blackout::cli {

// Declares --pm, --loads, --drive ... on the app. `options` must outlive it.
void declareRecordOptions(CLI::App& app, RecordOptions& options);

// Finds the program of a client's command (--drive); one sentence if there is none.
Result<void> takeClient(std::vector<std::string>& command, const std::string& option);

// Takes the program after `--`; one sentence if there is none.
Result<void> takeProgram(RecordOptions& options, const ProgramCommand& program, const std::string& subcommand);

}  // namespace blackout::cli
