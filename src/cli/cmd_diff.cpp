// `blackout diff`: what is new in one run against another.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/subcommand.h"
#include "report/run_diff.h"
#include "report/run_index.h"

namespace blackout::cli {

namespace {

// The last run of a folder that was finished, and the one of the same command before it.
Result<std::vector<std::string>> lastTwo(const std::string& folder) {
  auto index = RunIndex::open(folder, false);
  if (!index) return tl::unexpected(index.error());
  auto runs = index->runs();
  if (!runs) return tl::unexpected(runs.error());
  auto last = std::find_if(runs->rbegin(), runs->rend(), [](const IndexedRun& r) { return r.finished; });
  const IndexedRun* before = last == runs->rend() ? nullptr : runBefore(*runs, *last);
  if (before == nullptr)
    return fail(fmt::format("{}: has no two runs of one command; name two runs: blackout diff {}/1 {}/2", folder,
                            folder, folder));
  return std::vector{fmt::format("{}/{}", folder, before->number), fmt::format("{}/{}", folder, last->number)};
}

Result<ExitCode> run(std::vector<std::string> names) {
  if (names.size() == 1 && RunIndex::isIn(names.front())) {
    auto two = lastTwo(names.front());
    if (!two) return tl::unexpected(two.error());
    names = std::move(*two);
    fmt::print(stderr, "{} against {}:\n", names[1], names[0]);
  }
  if (names.size() != 2) return fail("name two runs: blackout diff runs/1 runs/2");
  auto before = readSavedReport(names[0], "");
  if (!before) return tl::unexpected(before.error());
  auto now = readSavedReport(names[1], "");
  if (!now) return tl::unexpected(now.error());
  RunDiff diff = compare(*before, *now);
  fmt::print("{}", renderDiff(diff));
  return exitCodeOf(diff);
}

const Register registered({
    .name = "diff",
    .summary = "say which findings of a run are new against another one, which are gone, and which are still there",
    .synopsis = "blackout diff RUN1 RUN2\n"
                "blackout diff FOLDER",
    .details =
        "RUN1 and RUN2 are runs' folders (FOLDER/3, FOLDER/latest, of --out FOLDER), or reports that --json wrote. "
        "With "
        "FOLDER alone its last run is compared with the one of the same command before it. Findings are recognised by "
        "their fingerprints, which an edit changes where it moves the lines that a finding names. What was only "
        "suspected before and is shown "
        "now counts as new.\n\n"
        "Exit codes: 0 nothing is new, 1 something is, 2 wrong usage or unusable input, 3 nothing is, but the second "
        "run is inconclusive.",
    .declare = [](CLI::App& app) -> Action {
      auto names = std::make_shared<std::vector<std::string>>();
      app.add_option("RUN", *names, "the two runs, the earlier one first");
      return [names](const ProgramCommand&) { return run(*names); };
    },
});

}  // namespace

}  // namespace blackout::cli
