// `blackout help`: the help of the commands, and the texts that packaging makes of it.

#include <fmt/format.h>

#include <memory>

#include "cli/completion.h"
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
    auto script = completionFor(options.completion);
    if (!script)
      return fail(fmt::format("--completion {}: no such shell; there are bash, zsh and fish", options.completion));
    fmt::print("{}", *script);
    return ExitCode::Clean;
  }
  if (!options.man && options.command == "limits") {
    fmt::print("{}", limitsText());
    return ExitCode::Clean;
  }
  if (auto kind = options.man ? std::nullopt : findingKindNamed(options.command)) {
    fmt::print("{}", kindText(rowOf(*kind)));
    return ExitCode::Clean;
  }
  const Subcommand* subcommand = nullptr;
  if (!options.command.empty()) {
    subcommand = subcommandNamed(options.command);
    if (subcommand == nullptr)
      return fail(
          fmt::format("no command '{}', nor a kind of finding; 'blackout help' lists the commands", options.command));
  }
  fmt::print("{}", options.man ? manText(subcommand) : subcommand != nullptr ? helpText(*subcommand) : overviewText());
  return ExitCode::Clean;
}

const Register registered({
    .name = "help",
    .summary = "explain a command, a kind of finding, or what no result speaks of",
    .synopsis = "blackout help [COMMAND]\n"
                "blackout help KIND\n"
                "blackout help limits",
    .details = "KIND is the name of a kind of finding, as it stands in brackets in reports: 'blackout help "
               "missing-flush'.",
    .declare = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      app.add_option("COMMAND", o->command, "what to explain; without it, the list of commands");
      app.add_flag("--man", o->man, "print the man page's source instead, in scdoc's format");
      app.add_option("--completion", o->completion, "print a completion script for this shell: bash, zsh or fish")
          ->type_name("SHELL");
      return [o](const ProgramCommand&) { return run(*o); };
    },
});

}  // namespace

}  // namespace blackout::cli
