// `blackout replay`: one finding again, alone.

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>

#include "cli/subcommand.h"
#include "findings/replay_file.h"
#include "judge/finding_replay.h"
#include "report/escape.h"

namespace blackout::cli {

namespace {

struct Options {
  std::string file;
  bool gdb = false;
  std::string keepPool;
};

// gdb has the terminal until it ends; an interrupt is for the program under it.
Result<void> runDebugger(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  std::fflush(stdout);
  auto was = std::signal(SIGINT, SIG_IGN);
  pid_t child = fork();
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::signal(SIGINT, was);
  if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
    return fail(fmt::format("{}: can't be started: {}", command[0], std::strerror(errno)));
  return {};
}

Result<ExitCode> run(const Options& options) {
  if (options.file.empty()) return fail("name a replay file: blackout replay finding-1.blackout");
  auto file = openReplay(options.file);
  if (!file) return tl::unexpected(file.error());
  // Before the folder changes.
  std::error_code error;
  std::string keepPool =
      options.keepPool.empty() ? std::string() : std::filesystem::absolute(options.keepPool, error).string();
  if (chdir(file->folder.c_str()) != 0)
    fmt::print(stderr, "blackout replay: {}: {}; the restart runs in the current folder instead\n",
               escapeText(file->folder), std::strerror(errno));
  if (!keepPool.empty())
    if (auto ok = keepPools(*file, keepPool); !ok) return tl::unexpected(ok.error());
  auto replay = FindingReplay::prepare(*file);
  if (!replay) return tl::unexpected(replay.error());
  auto replayed = replay->run();
  if (!replayed) return tl::unexpected(replayed.error());
  if (options.gdb) {
    auto command = replay->debuggerCommand();
    if (!command) return tl::unexpected(command.error());
    fmt::print(stderr, "The restart {}. 'run' starts it again under gdb, on the same memory.\n",
               escapeText(replayed->now.judgement == Judgement::Fine ? "ends well" : replayed->now.symptom));
    if (auto ok = runDebugger(*command); !ok) return tl::unexpected(ok.error());
  } else {
    fmt::print("{}", replayed->outcome.output);
    if (!replayed->outcome.history.empty())
      fmt::print("It answers {}\n", escapeText(textOf(replayed->outcome.history)));
    std::fflush(stdout);
  }

  if (replayed->wasFine() && replayed->now.judgement == Judgement::Fine) {
    fmt::print(stderr, "{}\n",
               replayed->sameAnswer
                   ? "The restart ends well and answers the same again: the finding is about what it reads or answers."
                   : "The restart ends well and answers something else than when this was found.");
    return replayed->sameAnswer ? ExitCode::Findings : ExitCode::Clean;
  }
  std::string expected = replayed->wasFine() ? "it ended well, but printed or read what it should not"
                                             : escapeText(replayed->expected.symptom);
  switch (replayed->now.judgement) {
    case Judgement::Unknown:
      fmt::print(stderr, "inconclusive: {}\n", escapeText(replayed->now.symptom));
      return ExitCode::Inconclusive;
    case Judgement::Fine:
      fmt::print(stderr, "The failure did not happen again: the restart ends well. It was: {}\n", expected);
      return ExitCode::Clean;
    case Judgement::Failed:
      break;
  }
  if (replayed->same())
    fmt::print(stderr, "The same failure again: the restarted program {}\n", escapeText(replayed->now.symptom));
  else
    fmt::print(stderr, "Another failure: the restarted program {}. It was: {}\n", escapeText(replayed->now.symptom),
               expected);
  return ExitCode::Findings;
}

const Register registered({
    .name = "replay",
    .summary = "restart a program on what a crash left, as a finding's file says",
    .synopsis = "blackout replay FILE [--gdb] [--keep-pool PATH]",
    .details =
        "FILE is one that 'blackout check' wrote. The pools are laid into a private folder as the crash left them, and "
        "the restart runs on them alone; its output is printed. With --gdb it then starts again under the debugger, as "
        "often as you type 'run'.\n\n"
        "Exit codes: 1 the restart fails or prints what the finding is about, 0 it does not, 2 wrong usage or unusable "
        "input, 3 inconclusive.",
    .declare = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      app.add_option("FILE", o->file, "the replay file of a finding");
      app.add_flag("--gdb", o->gdb, "start the restart under gdb");
      app.add_option("--keep-pool", o->keepPool,
                     "keep the pools as the crash left them: a file, or a folder for several")
          ->type_name("PATH");
      return [o](const ProgramCommand&) { return run(*o); };
    },
});

}  // namespace

}  // namespace blackout::cli
