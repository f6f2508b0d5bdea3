// `blackout`: finds the subcommand, lets it read its options, and turns whatever happens into one
// of the exit codes. What a command can't explain is an internal error, said in one line.

#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "cli/help_text.h"
#include "cli/subcommand.h"
#include "report/escape.h"

namespace {

using namespace blackout;
using namespace blackout::cli;

constexpr int kInternal = static_cast<int>(ExitCode::Internal);

// Assertions stay on; one that fails has told its story by the time this runs.
[[noreturn, maybe_unused]] void onFatalSignal(int) {
  static constexpr char text[] = "blackout: internal error; please report it with the lines above\n";
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
  _exit(kInternal);
}

void catchFatalSignals() {
#if !defined(__has_feature)
#define __has_feature(x) 0
#endif
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) && !defined(__SANITIZE_ADDRESS__)
  for (int s : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(s, onFatalSignal);
#endif
}

int complain(const std::string& who, const Error& error) {
  fmt::print(stderr, "{}: {}\n", who, escapeText(error.sentence));
  return static_cast<int>(error.exit);
}

int usage(const std::string& who, const std::string& sentence) { return complain(who, {sentence, ExitCode::Usage}); }

// The library's messages are sentences already, some of more than one line.
std::string oneLine(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

std::string explainExtra(const Declared& declared, const Subcommand& subcommand, const std::string& extra) {
  if (extra.size() > 1 && extra[0] == '-') {
    std::string name = extra.substr(0, extra.find('='));
    std::string guess = nearest(name, optionNames(*declared.app));
    return guess.empty() ? fmt::format("unknown option {}; see 'blackout help {}'", name, subcommand.name)
                         : fmt::format("unknown option {}; did you mean {}?", name, guess);
  }
  if (subcommand.synopsis.find("-- PROGRAM") != std::string::npos)
    return fmt::format("'{}' is not an option; put -- before the program: blackout {} ... -- {}", extra,
                       subcommand.name, extra);
  return fmt::format("unexpected argument '{}'; see 'blackout help {}'", extra, subcommand.name);
}

int runSubcommand(const Subcommand& subcommand, std::vector<std::string> words) {
  std::string who = "blackout " + subcommand.name;
  ProgramCommand program;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != "--") continue;
    program.given = true;
    program.words.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
    words.resize(i);
    break;
  }
  bool takesProgram = subcommand.synopsis.find("-- PROGRAM") != std::string::npos;
  if (program.given && !takesProgram) return usage(who, fmt::format("takes no program after --; see '{} --help'", who));

  Declared declared = declare(subcommand);
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());  // as the library wants them
    declared.app->parse(reversed);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", helpText(subcommand));
    return 0;
  } catch (const CLI::ParseError& e) {
    return usage(who, fmt::format("{}; see 'blackout help {}'", oneLine(e.what()), subcommand.name));
  }
  if (std::vector<std::string> extras = declared.app->remaining(); !extras.empty())
    return usage(who, explainExtra(declared, subcommand, extras.front()));

  Result<ExitCode> result = declared.action(program);
  if (!result) return complain(who, result.error());
  return static_cast<int>(*result);
}

int run(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) {
    fmt::print(stderr, "{}", overviewText());
    return static_cast<int>(ExitCode::Usage);
  }
  std::string name = words.front();
  if (name == "--help" || name == "-h") {
    fmt::print("{}", overviewText());
    return 0;
  }
  if (name == "--version") {
    fmt::print("blackout {}\n", BLACKOUT_VERSION);
    return 0;
  }
  words.erase(words.begin());
  if (const Subcommand* s = subcommandNamed(name)) return runSubcommand(*s, std::move(words));

  std::vector<std::string> names;
  for (const Subcommand* s : subcommands()) names.push_back(s->name);
  std::string guess = nearest(name, names);
  return usage("blackout", guess.empty() ? fmt::format("no command '{}'; 'blackout help' lists them", name)
                                         : fmt::format("no command '{}'; did you mean '{}'?", name, guess));
}

int guarded(int argc, char** argv) {
  try {
    int code = run(argc, argv);
    // A full disk shows itself only here; a result that was not written is no result.
    if (std::fflush(stdout) != 0) {
      fmt::print(stderr, "blackout: can't write the output: {}\n", std::strerror(errno));
      return static_cast<int>(ExitCode::Inconclusive);
    }
    return code;
  } catch (const std::exception& e) {
    std::fputs(fmt::format("blackout: internal error: {}; please report it\n", oneLine(e.what())).c_str(), stderr);
  } catch (...) {
    std::fputs("blackout: internal error; please report it\n", stderr);
  }
  return kInternal;
}

// Under a small limit of the stack the work is done on another one: the limit is meant for the program under test,
// which inherits it.
int onEnoughStack(int argc, char** argv) {
  constexpr rlim_t kEnough = rlim_t{8} << 20;
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kEnough) return guarded(argc, argv);
  struct Work {
    int argc;
    char** argv;
    int code;
  } work{argc, argv, kInternal};
  auto run = [](void* w) -> void* {
    auto* work = static_cast<Work*>(w);
    work->code = guarded(work->argc, work->argv);
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread{};
  bool made =
      pthread_attr_setstacksize(&attributes, kEnough) == 0 && pthread_create(&thread, &attributes, run, &work) == 0;
  pthread_attr_destroy(&attributes);
  if (!made) return guarded(argc, argv);
  pthread_join(thread, nullptr);
  return work.code;
}

}  // namespace

int main(int argc, char** argv) {
  catchFatalSignals();
  // A limit on the size of files is an error of the write, which is said; not the end.
  std::signal(SIGXFSZ, SIG_IGN);
  return onEnoughStack(argc, argv);
}
