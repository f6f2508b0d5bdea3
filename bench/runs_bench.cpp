// What a recovery run costs: `runs_bench PROGRAM POOL KIND N` records the program once, then makes N runs on one worker
// and prints the time of each, of which `bench/run` makes ratios to bare forks of the same program.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "events/trace.h"
#include "run/process_runner.h"
#include "run/recording.h"

using namespace blackout;

namespace {

template <class T>
T take(Result<T> r) {
  if (r) return std::move(*r);
  fmt::print(stderr, "runs_bench: {}\n", r.error().sentence);
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  RecordOptions options;
  options.pm = {argv[2]};
  options.command = {argv[1], argv[2], argv[3]};
  Recording recording = take(record(options));
  Trace trace = take(Trace::open(recording.tracePath));
  Index index = take(Index::build(trace, {}));
  TrackedBytes tracked = TrackedBytes::of(index);
  Baseline baseline(index, tracked, index.points(PointsMode::Enough));
  RecoveryProgram program;
  program.command = options.command;
  program.patterns = take(canonicalPatterns(options.pm));
  program.options.set(options.trap);
  auto runner = take(ProcessRunner::start(program, baseline, 1, {}));
  int runs = std::atoi(argv[4]);
  auto once = [&](int i) {
    Run request;
    request.pointNo = PointNo(static_cast<std::uint32_t>(i) % 4 + baseline.count() - 5);
    auto done = take(runner->run(request));
    if (done.outcome.ending != Ending::Exited || done.outcome.code != 0) {
      fmt::print(stderr, "runs_bench: a recovery failed: {}\n", done.outcome.output);
      std::exit(1);
    }
  };
  for (int i = 0; i < 20; ++i) once(i);
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < runs; ++i) once(i);
  std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  fmt::print("us_per_run {:.2f}\n", took.count() / runs);
}
