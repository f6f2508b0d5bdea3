// The subcommands of `blackout`. Each is one file that registers itself here with its help; main,
// the help, the man pages and the completions all come from this one table.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/cli11.h"
#include "events/error.h"

namespace blackout::cli {

// What the user wrote after `--`: the program under test and its arguments.
struct ProgramCommand {
  bool given = false;  // there was a `--`
  std::vector<std::string> words;
};

using Action = std::function<Result<ExitCode>(const ProgramCommand&)>;

struct Subcommand {
  std::string name;
  std::string summary;   // one line for the list of commands
  std::string synopsis;  // "blackout check --pm POOL [OPTIONS] -- PROGRAM [ARGS]"
  std::string details;   // paragraphs below the options
  // Declares the options on the app and returns what to do with them. The options' variables
  // live in the returned function.
  std::function<Action(CLI::App&)> declare;
};

// In order of name.
const std::vector<const Subcommand*>& subcommands();
const Subcommand* subcommandNamed(const std::string& name);

// Registers at start-up: `static const Register registered({...});`
struct Register {
  explicit Register(Subcommand subcommand);
};

// The app of a subcommand with its options declared.
struct Declared {
  std::unique_ptr<CLI::App> app;
  Action action;
};
Declared declare(const Subcommand& subcommand);

}  // namespace blackout::cli
