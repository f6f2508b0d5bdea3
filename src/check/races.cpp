#include "check/races.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <tuple>

#include "events/trace.h"
#include "findings/numbers.h"
#include "model/operations.h"

namespace blackout {

namespace {

// Rivals that a harness knows of an operation; it takes the number modulo those that there are.
constexpr unsigned kRivals = 3;
// Tests of the same place in the same operation against the same rival.
constexpr unsigned kTestsPerPlace = 2;

// Numbers of the two threads (runtime/schedule.h): the program's first one makes them in this order.
constexpr std::uint32_t kStopped = 2, kRival = 3;

// A store of an operation: where in the source, and how many its thread has made by then.
struct StoreOf {
  std::uint64_t site = 0;
  std::uint64_t stores = 0;
};

std::vector<StoreOf> storesOf(const Trace& trace, const Operation& operation) {
  std::vector<StoreOf> stores;
  std::uint64_t made = 0;
  for (EventNo n = 0; n < trace.end() && n <= operation.end; n = trace.next(n)) {
    const Event& e = trace[n];
    if (threadOf(e) != operation.thread || !isStore(e)) continue;
    ++made;
    if (n < operation.begin) continue;
    const Site* site = trace.siteOf(e);
    std::uint64_t id = site == nullptr ? 0 : site->id;
    // The pieces of one store are one.
    if ((e.len & (BLACKOUT_WIDE | BLACKOUT_JOINED)) != 0) continue;
    stores.push_back({id, made});
  }
  return stores;
}

// The last two operations of a race: the one that is stopped, and its rival.
struct Pair {
  const Operation* stopped = nullptr;
  const Operation* rival = nullptr;
};
std::optional<Pair> pairOf(const Operations& operations) {
  std::vector<const Operation*> last;
  for (const Operation& o : operations.all())
    if (o.depth == 0) last.push_back(&o);
  if (last.size() < 2) return std::nullopt;
  Pair pair{last[last.size() - 2], last.back()};
  if (pair.stopped->thread == pair.rival->thread) return std::nullopt;
  return pair;
}

// Whether the rival ended while the other one stood still in its middle.
bool overlapped(const Trace& trace, const Pair& pair) {
  if (pair.rival->begin < pair.stopped->begin || pair.rival->end == kNever || pair.stopped->end < pair.rival->end)
    return false;
  for (EventNo n = pair.rival->begin; n < pair.rival->end; n = trace.next(n))
    if (threadOf(trace[n]) == pair.stopped->thread) return false;
  return true;
}

class Races {
 public:
  Races(CheckOptions options, Judged& all) : options_(std::move(options)), all_(all) {
    options_.record.pinTime = true;
    options_.record.loads = true;  // who saw what
    command_ = options_.record.command;
  }

  // All races of one operation. `sites` are those of its stores when it ran alone.
  Result<void> against(std::uint64_t number, const std::string& name, const std::vector<StoreOf>& alone) {
    for (unsigned rival = 0; rival < kRivals; ++rival) {
      bool fresh = std::any_of(alone.begin(), alone.end(),
                               [&](const StoreOf& s) { return tried_[{s.site, name, rival}] < kTestsPerPlace; });
      if (!fresh) continue;
      options_.record.command = command_;
      for (const std::string& word : {std::string("--race"), std::to_string(number), std::to_string(rival)})
        options_.record.command.push_back(word);
      if (options_.crash && options_.crash->sameCommand) options_.crash->program.command = options_.record.command;
      auto stores = storesInThread();
      if (!stores) return tl::unexpected(stores.error());
      for (const StoreOf& s : *stores) {
        unsigned& tried = tried_[{s.site, name, rival}];
        if (tried == kTestsPerPlace) continue;
        ++tried;
        if (auto ok = test(s); !ok) return ok;
        if (stopped()) return {};
      }
    }
    return {};
  }

  bool stopped() const {
    return options_.crash && options_.crash->interrupt != nullptr && options_.crash->interrupt->load();
  }
  void tell() {
    all_.report.notes.push_back(
        fmt::format("Two operations at the same time: {}; in {} more the second operation waited for the first one.",
                    counted(tests_, "directed test"), waited_));
  }

 private:
  // What the operation stores when it runs in its thread and nobody interrupts it.
  Result<std::vector<StoreOf>> storesInThread() {
    options_.record.schedule = {.kind = Schedule::Kind::List};
    auto recording = record(options_.record);
    if (!recording) return tl::unexpected(recording.error());
    auto trace = Trace::open(recording->tracePath);
    if (!trace) return tl::unexpected(trace.error());
    Operations operations(*trace);
    auto pair = pairOf(operations);
    if (!pair) return fail("--threads: the harness made no two operations at the same time; build it anew");
    return storesOf(*trace, *pair->stopped);
  }

  Result<void> test(const StoreOf& s) {
    options_.record.schedule.switches = {{kStopped, s.stores, kRival, Switch::When::Stores}};
    auto recording = record(options_.record);
    if (!recording) return tl::unexpected(recording.error());
    {
      auto trace = Trace::open(recording->tracePath);
      if (!trace) return tl::unexpected(trace.error());
      Operations operations(*trace);
      auto pair = pairOf(operations);
      if (!pair || !overlapped(*trace, *pair)) {
        ++waited_;
        return {};
      }
    }
    auto judged = judgeRecording(*recording, options_);
    if (!judged) return tl::unexpected(judged.error());
    ++tests_;
    std::string schedule = options_.record.schedule.text() + " --";
    for (const std::string& word : options_.record.command) schedule += " " + word;
    all_.add(std::move(*judged), schedule);
    return {};
  }

  CheckOptions options_;
  Judged& all_;
  std::vector<std::string> command_;
  std::map<std::tuple<std::uint64_t, std::string, unsigned>, unsigned> tried_;
  std::uint64_t tests_ = 0;
  std::uint64_t waited_ = 0;
};

}  // namespace

Result<void> checkRaces(CheckOptions options, const std::string& alone, Judged& all) {
  auto trace = Trace::open(alone);
  if (!trace) return tl::unexpected(trace.error());
  Operations operations(*trace);
  Races races(std::move(options), all);
  std::uint64_t number = 0;
  for (const Operation& o : operations.all()) {
    // By which a harness names its specification; it is none of its operations.
    if (o.depth != 0 || o.name == "specification") continue;
    if (auto ok = races.against(number++, std::string(o.name), storesOf(*trace, o)); !ok) return ok;
    if (races.stopped()) {
      all.report.incomplete.emplace_back("Not all directed tests of two operations were made.");
      break;
    }
  }
  races.tell();
  return {};
}

}  // namespace blackout
