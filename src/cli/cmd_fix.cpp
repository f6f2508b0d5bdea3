// `blackout fix`: the fix of a finding that was tried, as a patch.

#include <fmt/format.h>

#include <memory>

#include "cli/subcommand.h"
#include "findings/replay_file.h"
#include "report/escape.h"
#include "report/saved_finding.h"

namespace blackout::cli {

namespace {

Result<ExitCode> run(const std::string& path) {
  if (path.empty()) return fail("name a finding's file: blackout fix finding-1.blackout");
  auto file = openReplay(path);
  if (!file) return tl::unexpected(file.error());
  auto finding = readSavedFinding(file->finding, path);
  if (!finding) return tl::unexpected(finding.error());
  fmt::print(stderr, "{}: {}\n", escapeText(finding->kind), escapeText(finding->verdict));
  if (!finding->tried.empty()) fmt::print(stderr, "{}\n", escapeText(finding->tried));
  if (!finding->diff.empty()) {
    fmt::print(stderr,
               "It is for patch -p1 in {}. The program itself was not run with it: "
               "check it again when the patch is applied.\n",
               escapeText(file->folder));
    fmt::print("{}", finding->diff);
    return ExitCode::Clean;
  }
  fmt::print(stderr, "There is no patch: {}.\n",
             finding->tried.empty() ? "no change that was tried leaves nothing of the finding"
                                    : "how to write that in the source can't be told from its text");
  if (!finding->hint.empty()) fmt::print(stderr, "What to do: {}.\n", escapeText(finding->hint));
  return ExitCode::Inconclusive;
}

const Register registered({
    .name = "fix",
    .summary = "print the patch for a finding, which was tried and leaves nothing of it",
    .synopsis = "blackout fix FILE > fix.patch",
    .details =
        "FILE is one that 'blackout check' wrote for a finding. Where a missing flush or fence is the cause, the check "
        "puts one where a statement could be, at every execution of it, and asks of every crash state of the finding, "
        "at all points, whether it can still come about. Bytes that a transaction lacks are added to it in the same "
        "way, "
        "and no restart may fail with them. If nothing is left, the change is written with the program's own "
        "functions, as a unified diff against the source: to standard output; what was tried, and what it costs, to "
        "standard error. The program itself is not run with it: apply the patch, build, and check again.\n\n"
        "Exit codes: 0 there is a patch, 2 wrong usage or unusable input, 3 there is none; what to do is said in "
        "words.",
    .declare = [](CLI::App& app) -> Action {
      auto path = std::make_shared<std::string>();
      app.add_option("FILE", *path, "the file of a finding");
      return [path](const ProgramCommand&) { return run(*path); };
    },
});

}  // namespace

}  // namespace blackout::cli
