#include "cli/record_options.h"

#include <fmt/format.h>

namespace blackout::cli {

void declareRecordOptions(CLI::App& app, RecordOptions& options) {
  app.add_option("--pm", options.pm,
                 "a pool: a file, a folder or a glob of files that the program maps as persistent memory; may be "
                 "given more than once")
      ->type_name("POOL")
      ->allow_extra_args(false);
  app.add_flag("--loads", options.loads, "record loads too");
  app.add_flag("--locks", options.locks, "record locks and unlocks too");
  app.add_option("--stack-depth", options.stackDepth, "calls to keep with each event; 0: none")
      ->type_name("N")
      ->check(CLI::Validator(
          [](std::string& text) { return CLI::Range(0, 256)(text).empty() ? "" : "it is a number from 0 to 256"; },
          ""));
  app.add_option("--keep-pool", options.keepPool,
                 "keep what the program made of its pools: a file, or a folder for several; your own pools are never "
                 "changed")
      ->type_name("PATH");
}

Result<void> takeProgram(RecordOptions& options, const ProgramCommand& program, const std::string& subcommand) {
  if (!program.given || program.words.empty())
    return fail(
        fmt::format("no program to run; put it behind --: blackout {} --pm POOL -- ./program args", subcommand));
  options.command = program.words;
  return {};
}

}  // namespace blackout::cli
