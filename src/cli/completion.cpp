#include "cli/completion.h"

#include <fmt/format.h>

#include "cli/help_text.h"
#include "cli/subcommand.h"

namespace blackout::cli {

namespace {

// What stands beside a name in a menu: the beginning of its description, in one line.
std::string brief(const std::string& description) {
  constexpr std::size_t kMost = 72;
  std::string text = description.substr(0, description.find_first_of(";\n"));
  if (std::size_t end = text.find(". "); end != std::string::npos) text.resize(end);
  if (text.size() > kMost) text = text.substr(0, text.rfind(' ', kMost)) + " ...";
  return text;
}

// Within single quotes.
std::string quoted(const std::string& text, std::string_view quote) {
  std::string out;
  for (char c : text) out += c == '\'' ? std::string(quote) : std::string(1, c);
  return out;
}

// zsh splits at the first colon that is not escaped.
std::string zshWord(const std::string& name, const std::string& description) {
  return fmt::format("'{}:{}'", name, quoted(brief(description), "'\\''"));
}

std::string bash() {
  std::string cases;
  std::string names;
  for (const Subcommand* s : subcommands()) {
    Declared declared = declare(*s);
    std::string options;
    for (const std::string& o : optionNames(*declared.app)) options += (options.empty() ? "" : " ") + o;
    names += (names.empty() ? "" : " ") + s->name;
    cases += fmt::format("    {}) words='{}' ;;\n", s->name, options);
  }
  return fmt::format(R"(# Completion of blackout's commands and options; after -- it completes the program's own.
_blackout() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${{COMP_WORDS[i]}} == -- ]]; then
      COMPREPLY=($(compgen -f -- "$current"))
      return
    fi
  done
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$current"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}
complete -o filenames -F _blackout blackout
)",
                     names, cases);
}

std::string zsh() {
  std::string commands, cases;
  for (const Subcommand* s : subcommands()) {
    Declared declared = declare(*s);
    commands += "\n      " + zshWord(s->name, s->summary);
    std::string options;
    for (const CLI::Option* o : declared.app->get_options()) {
      for (const std::string& l : o->get_lnames()) options += "\n      " + zshWord("--" + l, o->get_description());
      for (const std::string& n : o->get_snames()) options += "\n      " + zshWord("-" + n, o->get_description());
    }
    cases += fmt::format("    {}) known=({}) ;;\n", s->name, options);
  }
  return fmt::format(R"(#compdef blackout
# Completion of blackout's commands and options; after -- it completes the program's own.
_blackout() {{
  local i
  local -a known
  for ((i = 2; i < CURRENT; i++)); do
    if [[ $words[i] == -- ]]; then
      words=("${{(@)words[i + 1, -1]}}")
      ((CURRENT -= i))
      _normal
      return
    fi
  done
  if ((CURRENT == 2)); then
    known=({}
      '--help:print the help' '--version:print the version')
    _describe command known
    return
  fi
  case $words[2] in
{}  esac
  if [[ $PREFIX == -* ]]; then
    _describe option known
  else
    _files
  fi
}}
_blackout "$@"
)",
                     commands, cases);
}

std::string fish() {
  std::string out = "# Completion of blackout's commands and options.\n";
  auto text = [](const std::string& t) { return quoted(brief(t), "\\'"); };
  for (const Subcommand* s : subcommands())
    out += fmt::format("complete -c blackout -n __fish_use_subcommand -f -a {} -d '{}'\n", s->name, text(s->summary));
  for (const Subcommand* s : subcommands()) {
    Declared declared = declare(*s);
    for (const CLI::Option* o : declared.app->get_options()) {
      if (o->get_positional()) continue;
      std::string names;
      for (const std::string& l : o->get_lnames()) names += " -l " + l;
      for (const std::string& n : o->get_snames()) names += " -s " + n;
      out += fmt::format("complete -c blackout -n '__fish_seen_subcommand_from {}'{}{} -d '{}'\n", s->name, names,
                         o->get_type_size() != 0 ? " -r" : "", text(o->get_description()));
    }
  }
  return out;
}

}  // namespace

std::optional<std::string> completionFor(const std::string& shell) {
  if (shell == "bash") return bash();
  if (shell == "zsh") return zsh();
  if (shell == "fish") return fish();
  return std::nullopt;
}

}  // namespace blackout::cli
