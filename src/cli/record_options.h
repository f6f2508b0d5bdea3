// The options of everything that runs a program: `blackout record` and `blackout check`.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/subcommand.h"
#include "explore/recording.h"

namespace blackout::cli {

// Declares --pm, --loads, --keep-pool ... on the app. `options` must outlive it.
void declareRecordOptions(CLI::App& app, RecordOptions& options);

// Takes the program behind `--`; one sentence if there is none.
Result<void> takeProgram(RecordOptions& options, const ProgramCommand& program, const std::string& subcommand);

}  // namespace blackout::cli
