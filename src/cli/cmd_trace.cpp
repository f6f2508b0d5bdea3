// `blackout trace`: prints, filters and counts the events of a trace, also while it grows.

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "binary/symbolizer.h"
#include "cli/subcommand.h"
#include "events/trace.h"
#include "report/escape.h"
#include "report/trace_count.h"
#include "report/trace_filter.h"
#include "report/trace_text.h"
#include "report/typed_text.h"

namespace blackout::cli {

namespace {

struct Options {
  std::string path;
  TraceFilterText filter;
  std::string countBy;
  bool stacks = false;
  bool types = false;
  bool follow = false;
};

void printStack(Symbolizer& symbolizer, const Event& e) {
  for (const Frame& f : symbolizer.stackOf(stackOf(e)))
    fmt::print("{:>14}{} {}:{}:{}\n", "", f.function.empty() ? "??" : f.function, f.file.empty() ? "??" : f.file,
               f.line, f.column);
}

Result<void> print(const Trace& trace, const Options& options, EventNo from) {
  auto filter = TraceFilter::make(trace, options.filter);
  if (!filter) return tl::unexpected(filter.error());
  EventPrinter printer(trace);
  Symbolizer symbolizer(trace);
  if (from == 0) fmt::print("{}", printer.header());
  std::optional<TypedText> types;
  if (options.types) types.emplace(trace);
  // What lies where, and what it was, is told by all events from the first on.
  for (EventNo n = types ? EventNo(0) : from; n < trace.end(); n = trace.next(n)) {
    std::string typed = types ? types->event(n) : std::string();
    if (n < from || !filter->wants(trace, n)) continue;
    fmt::print("{}\n", printer.line(n));
    if (!typed.empty()) fmt::print("{:>14}{}\n", "", typed);
    if (options.stacks) printStack(symbolizer, trace[n]);
  }
  if (types) fmt::print("{}\n", types->coverage());
  return {};
}

// Looks again until the trace is complete. What was printed is not printed again.
Result<ExitCode> follow(const Options& options) {
  constexpr useconds_t kPause = 200'000;
  EventNo from = 0;
  for (;;) {
    auto trace = Trace::open(options.path);
    if (!trace) return tl::unexpected(trace.error());
    if (auto printed = print(*trace, options, from); !printed) return tl::unexpected(printed.error());
    std::fflush(stdout);
    from = trace->end();
    if (trace->sealed()) return ExitCode::Clean;
    usleep(kPause);
  }
}

Result<ExitCode> run(const Options& options) {
  if (options.path.empty()) return fail("name a trace: blackout trace FILE");
  std::optional<CountBy> by;
  if (!options.countBy.empty()) {
    by = countByNamed(options.countBy);
    if (!by) return fail(fmt::format("--count-by {}: no such key; it is one of {}", options.countBy, countByNames()));
    if (options.follow) return fail("--count-by and --follow don't go together; leave one out");
  }
  if (options.follow) return follow(options);
  auto trace = Trace::open(options.path);
  if (!trace) return tl::unexpected(trace.error());
  if (!by) {
    if (auto printed = print(*trace, options, 0); !printed) return tl::unexpected(printed.error());
    return ExitCode::Clean;
  }
  auto filter = TraceFilter::make(*trace, options.filter);
  if (!filter) return tl::unexpected(filter.error());
  for (const CountRow& row : countEvents(*trace, *filter, *by)) fmt::print("{:>10} {}\n", row.count, row.key);
  return ExitCode::Clean;
}

const Register registered({
    .name = "trace",
    .summary = "print, filter or count the events of a trace",
    .synopsis = "blackout trace FILE [OPTIONS]",
    .details =
        "An event is printed with its number (its slot in the trace), its thread, its kind, what it is about and its "
        "place in the source. Addresses are FILE-NUMBER:OFFSET; the pools and their numbers come first. Options that "
        "filter may be given more than once: an event must satisfy each option, by any of its values. A trace that is "
        "still being recorded, or whose program was killed, is read up to its last whole event.",
    .declare = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      auto list = [&](const char* name, std::vector<std::string>& values, const char* type, const char* help) {
        app.add_option(name, values, help)->type_name(type)->delimiter(',')->allow_extra_args(false);
      };
      app.add_option("FILE", o->path, "a trace that 'blackout record' or 'blackout check --trace' wrote");
      list(
          "--kind", o->filter.kinds, "KIND,...",
          "only these kinds of events (store, clwb ...) or groups of them (stores, loads, flushes, fences, files ...)");
      list("--thread", o->filter.threads, "N,...", "only events of these threads");
      list("--file", o->filter.files, "POOL,...", "only events on these pools: a number, a path or the end of one");
      list("--at", o->filter.at, "FILE:LINE,...", "only events from these lines of the source, inlined ones included");
      list("--line", o->filter.lines, "ADDR,...",
           "only events on the 64-byte line of this address: an offset (0x1040) or FILE-NUMBER:OFFSET (1:0x1040)");
      app.add_option("--from", o->filter.from, "begin at this event")->type_name("EVENT");
      app.add_option("--to", o->filter.to, "stop before this event")->type_name("EVENT");
      app.add_option("--count-by", o->countBy, "count instead of printing, by " + countByNames())->type_name("KEY");
      app.add_flag("--stacks", o->stacks, "print the calls that led to each event");
      app.add_flag("--types", o->types,
                   "print what each store's bytes are called and were: the struct and field that its instruction "
                   "knows, else those of the object that lies there (as debug information has it)");
      app.add_flag("--follow", o->follow, "go on until the recording ends");
      return [o](const ProgramCommand&) { return run(*o); };
    },
});

}  // namespace

}  // namespace blackout::cli
