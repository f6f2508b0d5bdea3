// `blackout help`: the help of the commands, and the texts that packaging makes of it.

#include <fmt/format.h>

#include <memory>

#include "cli/help_text.h"
#include "cli/subcommand.h"

namespace blackout::cli {

namespace {

struct Options {
  std::string command;
  bool man = false;
  std::string completion;
};

Result<ExitCode> run(const Options& options) {
  if (!options.completion.empty()) {
    if (options.completion != "bash")
      return fail(
          fmt::format("--completion {}: no such shell; there is one for bash (which zsh can load with bashcompinit)",
                      options.completion));
    fmt::print("{}", bashCompletion());
    return ExitCode::Clean;
  }
  const Subcommand* subcommand = nullptr;
  if (!options.command.empty()) {
    subcommand = subcommandNamed(options.command);
    if (subcommand == nullptr) return fail(fmt::format("no command '{}'; 'blackout help' lists them", options.command));
  }
  fmt::print("{}", options.man ? manText(subcommand) : subcommand != nullptr ? helpText(*subcommand) : overviewText());
  return ExitCode::Clean;
}

const Register registered({
    .name = "help",
    .summary = "explain a command",
    .synopsis = "blackout help [COMMAND]",
    .details = "",
    .declare = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      app.add_option("COMMAND", o->command, "the command to explain; without it, the list of commands");
      app.add_flag("--man", o->man, "print the man page's source instead, in scdoc's format");
      app.add_option("--completion", o->completion, "print a completion script for this shell (bash)")
          ->type_name("SHELL");
      return [o](const ProgramCommand&) { return run(*o); };
    },
});

}  // namespace

}  // namespace blackout::cli
