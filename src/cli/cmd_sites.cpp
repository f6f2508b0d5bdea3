// `blackout sites`: the site table of an instrumented program file.

#include <fmt/format.h>

#include <memory>

#include "cli/subcommand.h"
#include "events/site_table.h"
#include "report/sites_text.h"

namespace blackout::cli {

namespace {

struct Options {
  std::string binary;
  bool json = false;
};

Result<ExitCode> run(const Options& options) {
  if (options.binary.empty()) return fail("name a program file: blackout sites BINARY");
  auto sites = readSiteTable(options.binary);
  if (!sites) return tl::unexpected(sites.error());
  fmt::print("{}", options.json ? renderSitesJson(options.binary, *sites) : renderSitesText(*sites));
  return ExitCode::Clean;
}

const Register registered({
    .name = "sites",
    .summary = "print the instrumented instructions of a program file",
    .synopsis = "blackout sites BINARY [--json]",
    .details = "Each site has an id that is the same in any build of the same source, the kind and size of its "
               "access, the field that it accesses, and its places in the source: first the place itself, then the "
               "functions into which it was inlined. An instruction that the optimiser merged from several lists them "
               "all.",
    .declare = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      app.add_option("BINARY", o->binary, "a program or library built with blackout-clang or blackout-clang++");
      app.add_flag("--json", o->json, "print JSON");
      return [o](const ProgramCommand&) { return run(*o); };
    },
});

}  // namespace

}  // namespace blackout::cli
