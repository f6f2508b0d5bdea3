// How fast the index is built and how much memory it takes beyond the trace. Figures of issue 2:
// at least 10 million events per second on one core, at most 64 bytes per event.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <random>

#include "events/trace.h"
#include "events/trace_writer.h"
#include "model/cursor.h"
#include "model/index.h"

namespace {

using namespace blackout;

constexpr std::size_t kEvents = 10'000'000;

// `bytes` with room for more is what a trace may refer to.
struct Recording {
  std::string bytes;
  Trace trace;
};

Trace open(const std::string& bytes) {
  auto trace = Trace::fromBytes(std::as_bytes(std::span(bytes)));
  if (!trace) std::abort();
  return std::move(*trace);
}

// Bytes that the C library has handed out.
std::size_t inUse() {
  struct mallinfo2 m = mallinfo2();
  return m.uordblks + m.hblkhd;
}

// Transactions of a persistent index: two 8-byte stores and a clwb of their line, a fence after
// every second one. Lines are picked at random.
std::string mixture(std::uint64_t lines) {
  TraceWriter w;
  FileNo f = w.file("/pool", lines * 64, true);
  std::mt19937_64 random(1);
  for (std::size_t n = 0; n < kEvents;) {
    PmAddr line = pmAddr(f, 64 * (random() % lines));
    w.event(EventKind::Store, 1, line + 8 * (random() % 8), random(), 8);
    w.event(EventKind::Store, 1, line + 8 * (random() % 8), random(), 8);
    w.event(EventKind::Clwb, 1, line);
    n += 3;
    if (n % 2 == 0) {
      w.event(EventKind::Sfence, 1);
      ++n;
    }
  }
  return w.bytes();
}

// Nothing but stores, each line once per round.
std::string stores(std::uint64_t lines) {
  TraceWriter w;
  FileNo f = w.file("/pool", lines * 64, true);
  for (std::size_t n = 0; n < kEvents; ++n)
    w.event(EventKind::Store, 1, pmAddr(f, 64 * (n % lines) + 8 * (n % 8)), n, 8);
  return w.bytes();
}

void buildIndex(benchmark::State& state, const std::string& bytes, std::string_view options) {
  Trace trace = open(bytes);
  ModelOptions model = *parseModelOptions(options);
  double memory = 0;
  double reported = 0;
  for (auto _ : state) {
    std::size_t before = inUse();
    auto index = Index::build(trace, model);
    if (!index) std::abort();
    memory = static_cast<double>(inUse() - before);
    reported = static_cast<double>(index->memory());
  }
  auto events = static_cast<double>(trace.eventCount());
  state.counters["events/s"] =
      benchmark::Counter(events * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["bytes/event"] = memory / events;
  state.counters["own bytes/event"] = reported / events;
}

void walkPoints(benchmark::State& state, const std::string& bytes) {
  Trace trace = open(bytes);
  auto index = Index::build(trace, {});
  if (!index) std::abort();
  std::vector<EventNo> points = index->points(PointsMode::Enough);
  for (auto _ : state) benchmark::DoNotOptimize(log10StatesOverPoints(*index, points));
  state.counters["points/s"] =
      benchmark::Counter(static_cast<double>(points.size() * state.iterations()), benchmark::Counter::kIsRate);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mixed = mixture(100'000);
  const std::string hot = mixture(1'000);
  const std::string allStores = stores(100'000);
  const std::string distinct = stores(kEvents);
  auto add = [](const char* name, auto run) { benchmark::RegisterBenchmark(name, run)->Unit(benchmark::kMillisecond); };
  add("index/mixture of 100k lines", [&](benchmark::State& s) { buildIndex(s, mixed, ""); });
  add("index/mixture of 1k lines", [&](benchmark::State& s) { buildIndex(s, hot, ""); });
  add("index/mixture, nt-order=any", [&](benchmark::State& s) { buildIndex(s, mixed, "nt-order=any"); });
  add("index/mixture, eadr", [&](benchmark::State& s) { buildIndex(s, mixed, "model=eadr"); });
  add("index/all stores, 100k lines", [&](benchmark::State& s) { buildIndex(s, allStores, ""); });
  add("index/all stores, each to its own line", [&](benchmark::State& s) { buildIndex(s, distinct, ""); });
  add("cursor/all points of the mixture", [&](benchmark::State& s) { walkPoints(s, mixed); });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
