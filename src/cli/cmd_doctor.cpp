// `blackout doctor`: what this machine and a program allow.

#include <fmt/format.h>

#include "cli/subcommand.h"
#include "report/escape.h"
#include "run/doctor.h"

namespace blackout::cli {

namespace {

// False: something is missing without which nothing works.
bool print(const std::vector<Diagnosis>& all) {
  bool works = true;
  for (const Diagnosis& d : all) {
    std::string_view is = d.is == Diagnosis::Is::Fine ? "ok" : d.is == Diagnosis::Is::Limited ? "limited" : "missing";
    fmt::print("{:<8} {}: {}\n", is, d.what, escapeText(d.means));
    if (!d.advice.empty()) fmt::print("{:<8} what to do: {}\n", "", d.advice);
    works &= d.is != Diagnosis::Is::Missing;
  }
  return works;
}

const Register registered({
    .name = "doctor",
    .summary = "say what this machine and a program allow, and what to do about it",
    .synopsis = "blackout doctor\n"
                "blackout doctor -- PROGRAM",
    .details = "Tries what checks rely on: fixed addresses, namespaces, seccomp filters, memory files, clang 19, gdb; "
               "and of a "
               "program whether it can be loaded, was compiled by Blackout, and has debug information. The program is "
               "not run.\n\n"
               "Exit codes: 0 checks work, perhaps with limits, 2 wrong usage, 3 something is missing.",
    .declare = [](CLI::App&) -> Action {
      return [](const ProgramCommand& program) -> Result<ExitCode> {
        if (program.given && program.words.empty()) return fail("name the program after --, or leave out the --");
        bool works = print(examineMachine());
        if (program.given) works &= print(examineProgram(program.words.front()));
        return works ? ExitCode::Clean : ExitCode::Inconclusive;
      };
    },
});

}  // namespace

}  // namespace blackout::cli
