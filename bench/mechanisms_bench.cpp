// How fast the rules of mechanisms are checked, in processor time: at least 2 million events per second and core
// (issue 20). A ring of undo entries, with as many other stores as the journal makes itself; and a log.
#include <benchmark/benchmark.h>

#include "events/trace.h"
#include "events/trace_writer.h"
#include "mechanisms/invariants.h"

namespace {

using namespace blackout;

constexpr std::uint64_t kTransactions = 100'000;
constexpr std::uint64_t kJournal = 64, kArea = 4096, kSize = 64 * 64, kData = 65536;

StackId place(TraceWriter& w, std::uint64_t id, const std::string& type) {
  Site site;
  site.id = id;
  site.kind = SiteKind::Store;
  site.size = 8;
  site.type = type;
  site.sources = {{id, {{"f", "f.c", static_cast<std::uint32_t>(id), 1, 0}}}};
  return w.where(w.site(site));
}

std::string journal() {
  TraceWriter w;
  FileNo f = w.file("/pool", 1 << 20, true);
  StackId base = place(w, 1, "journal.base"), head = place(w, 2, "journal.head"), tail = place(w, 3, "journal.tail"),
          size = place(w, 4, "journal.size"), addr = place(w, 5, "log_entry.addr"),
          length = place(w, 6, "log_entry.size"), data = place(w, 7, "log_entry.data[]"), other = place(w, 8, "");
  auto store = [&](StackId where, std::uint64_t at, std::uint64_t value) {
    w.event(EventKind::Store, 1, pmAddr(f, at), value, 8, where);
  };
  auto persist = [&](std::uint64_t at) {
    w.event(EventKind::Clwb, 1, pmAddr(f, at));
    w.event(EventKind::Sfence, 1);
  };
  store(base, kJournal, kArea);
  store(size, kJournal + 24, kSize);
  store(head, kJournal + 8, 0);
  store(tail, kJournal + 16, 0);
  persist(kJournal);
  for (std::uint64_t n = 0; n < kTransactions; ++n) {
    std::uint64_t at = n * 64 % kSize, target = kData + n % 1024 * 64;
    w.blob(EventKind::OpBegin, 1, 0, "change");
    store(tail, kJournal + 16, (at + 64) % kSize);
    persist(kJournal);
    store(addr, kArea + at, target);
    store(length, kArea + at + 8, 8);
    store(data, kArea + at + 16, n < 1024 ? 0 : n - 1024 + 1);
    persist(kArea + at);
    store(other, target, n + 1);
    for (std::uint64_t i = 1; i < 6; ++i) store(other, target + 8 * i, n);
    persist(target);
    store(head, kJournal + 8, (at + 64) % kSize);
    persist(kJournal);
    w.event(EventKind::OpEnd, 1);
  }
  return w.bytes();
}

StructLayouts layouts() {
  StructLayouts out;
  auto scalar = [](std::string name, std::uint64_t offset) {
    return LayoutMember{std::move(name), offset, 8, 1, false, kNoLayout};
  };
  StructLayout journal{
      "journal", 32, false, false, {scalar("base", 0), scalar("head", 8), scalar("tail", 16), scalar("size", 24)}};
  StructLayout entry{
      "log_entry", 64, false, false, {scalar("addr", 0), scalar("size", 8), {"data", 16, 1, 48, true, kNoLayout}}};
  out.add(journal);
  out.add(entry);
  return out;
}

// `numbered`: transactions are told apart by a number in their entries.
void checkJournal(benchmark::State& state, bool numbered) {
  std::string bytes = journal();
  auto trace = Trace::fromBytes(std::as_bytes(std::span(bytes)));
  if (!trace) std::abort();
  auto index = Index::build(*trace, {});
  if (!index) std::abort();
  for (auto _ : state) {
    std::string text = R"([journal.undo]
head = "journal.base + journal.head"
tail = "journal.base + journal.tail"
area = { at = "journal.base", size = "journal.size" }
entry = { struct = "log_entry", target = "log_entry.addr", size = "log_entry.size", data = "log_entry.data" }
preallocated = true
)";
    if (numbered) text.insert(text.rfind(" }"), ", transaction = \"log_entry.addr\"");
    auto description = Description::parse(text, "bench");
    StructLayouts structs = layouts();
    auto phases = checkMechanisms(*index, *description, structs);
    if (!phases || phases->transactions.size() != kTransactions || !phases->violations.empty()) {
      state.SkipWithError("rules are not as they should be");
      break;
    }
  }
  state.counters["events"] =
      benchmark::Counter(static_cast<double>(trace->eventCount()), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(checkJournal, one_at_a_time, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(checkJournal, numbered, true)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
