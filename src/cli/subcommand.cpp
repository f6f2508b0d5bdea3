#include "cli/subcommand.h"

#include <algorithm>
#include <array>
#include <list>

namespace blackout::cli {

namespace {

// Made on first use: registration runs before main, in no particular order.
std::list<Subcommand>& owned() {
  static std::list<Subcommand> list;
  return list;
}

// The library takes -3 for the largest number but two.
void refuseNegative(CLI::App& app) {
  constexpr std::array kCounted = {"N", "MIB", "BYTE", "EVENT", "SECONDS"};
  CLI::Validator check;
  check.operation([](const std::string& word) {
    return word.starts_with('-') ? word + " is less than 0; a number from 0 on is wanted" : std::string();
  });
  for (CLI::Option* option : app.get_options())
    if (std::find(kCounted.begin(), kCounted.end(), option->get_type_name()) != kCounted.end()) option->check(check);
}

}  // namespace

const std::vector<const Subcommand*>& subcommands() {
  static const std::vector<const Subcommand*> sorted = [] {
    std::vector<const Subcommand*> list;
    for (const Subcommand& s : owned()) list.push_back(&s);
    std::sort(list.begin(), list.end(), [](auto* a, auto* b) { return a->name < b->name; });
    return list;
  }();
  return sorted;
}

const Subcommand* subcommandNamed(const std::string& name) {
  for (const Subcommand* s : subcommands())
    if (s->name == name) return s;
  return nullptr;
}

Register::Register(Subcommand subcommand) { owned().push_back(std::move(subcommand)); }

Declared declare(const Subcommand& subcommand) {
  auto app = std::make_unique<CLI::App>(subcommand.summary, "blackout " + subcommand.name);
  app->set_help_flag("-h,--help", "print this text");
  // Unknown arguments are ours to explain (main.cpp), not the library's.
  app->allow_extras(true);
  Action action = subcommand.declare(*app);
  refuseNegative(*app);
  return {std::move(app), std::move(action)};
}

}  // namespace blackout::cli
