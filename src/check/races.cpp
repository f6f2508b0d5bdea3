#include "check/races.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <tuple>

#include "check/several_recordings.h"
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
  Races(CheckOptions options, Judged& all)
      : recordings_(std::move(options)), options_(recordings_.options), all_(all), command_(options_.record.command) {
    options_.record.pinTime = true;
    options_.record.loads = true;  // who saw what
  }

  // All races of one operation. `sites` are those of its stores when it ran alone.
  Result<void> against(std::uint64_t number, const std::string& name, const std::vector<StoreOf>& alone) {
    for (unsigned rival = 0; rival < kRivals; ++rival) {
      bool fresh = std::any_of(alone.begin(), alone.end(),
                               [&](const StoreOf& s) { return tried_[{s.site, name, rival}] < kTestsPerPlace; });
      if (!fresh) continue;
      if (ended()) return {};
      std::vector<std::string> words = command_;
      words.insert(words.end(), {"--race", std::to_string(number), std::to_string(rival)});
      takeCommand(options_, std::move(words));
      auto stores = storesInThread();
      if (!stores) return tl::unexpected(stores.error());
      // Where it does not come to its end there is nothing to stop, and others of its kind would say the same.
      if (!*stores)
        for (const StoreOf& s : alone) ++tried_[{s.site, name, rival}];
      else
        for (const StoreOf& s : **stores) {
          unsigned& tried = tried_[{s.site, name, rival}];
          if (tried >= kTestsPerPlace) continue;
          if (ended()) return {};
          ++tried;
          if (auto ok = test(s); !ok) return ok;
        }
    }
    return {};
  }

  // Something is left to do, and nobody waits for it.
  bool ended() {
    cut_ |= recordings_.patience.ending();
    return cut_;
  }
  void tell() {
    all_.report.notes.push_back(
        fmt::format("Two operations at the same time: {}; in {} more the second operation waited for the first one.",
                    counted(tests_, "directed test"), waited_));
    if (options_.model.tso && tests_ != 0)
      all_.report.incomplete.emplace_back(
          "Directed tests of two operations ran without store buffers (tso=on): what one of the two does while a "
          "store of the other still waits was not tried in them.");
    if (died_ != 0)
      all_.report.incomplete.push_back(fmt::format(
          "{} of two operations did not end well, the first under --schedule {}.", counted(died_, "run"), firstDied_));
    if (cut_)
      all_.report.incomplete.push_back(fmt::format("Not all directed tests of two operations were made, because of {}.",
                                                   recordings_.patience.interrupted() ? "an interrupt" : "--time"));
  }

 private:
  // What the operation stores when it runs in its thread and nobody interrupts it. None: it does not come to its end.
  Result<std::optional<std::vector<StoreOf>>> storesInThread() {
    using Stores = std::optional<std::vector<StoreOf>>;
    options_.record.schedule = {.kind = Schedule::Kind::List};
    auto recording = recordings_.next();
    if (!recording) return tl::unexpected(recording.error());
    {
      std::shared_ptr<const Trace> trace = recording->trace;
      if (endedWell(*recording, *trace, options_)) {
        tellIncomplete(*recording, all_.report);
        Operations operations(*trace);
        auto pair = pairOf(operations);
        if (!pair) return fail("--threads: the harness made no two operations at the same time; build it anew");
        return Stores(storesOf(*trace, *pair->stopped));
      }
    }
    if (auto ok = judge(*recording, true); !ok) return tl::unexpected(ok.error());
    return Stores();
  }

  Result<void> test(const StoreOf& s) {
    options_.record.schedule.switches = {{kStopped, s.stores, kRival, Switch::When::Stores}};
    auto recording = recordings_.next();
    if (!recording) return tl::unexpected(recording.error());
    bool died = false;
    {
      std::shared_ptr<const Trace> trace = recording->trace;
      died = !endedWell(*recording, *trace, options_);
      Operations operations(*trace);
      auto pair = pairOf(operations);
      if (!died && (!pair || !overlapped(*trace, *pair))) {
        ++waited_;
        tellIncomplete(*recording, all_.report);
        return {};
      }
    }
    ++tests_;
    return judge(*recording, died);
  }

  Result<void> judge(Recording& recording, bool died) {
    auto judged = recordings_.judge(recording);
    if (!judged) return tl::unexpected(judged.error());
    std::string schedule = options_.record.schedule.text() + " --";
    for (const std::string& word : options_.record.command) schedule += " " + word;
    if (died && died_++ == 0) firstDied_ = schedule;
    // What it had not yet made durable when it died is no mistake of its own.
    if (died) std::erase_if(judged->report.findings, [](const Finding& f) { return f.severity != Severity::Shown; });
    all_.add(std::move(*judged), schedule);
    return {};
  }

  RecordingsInTurn recordings_;
  CheckOptions& options_;  // theirs
  Judged& all_;
  std::vector<std::string> command_;
  std::map<std::tuple<std::uint64_t, std::string, unsigned>, unsigned> tried_;
  std::uint64_t tests_ = 0;
  std::uint64_t waited_ = 0;
  std::uint64_t died_ = 0;
  std::string firstDied_;
  bool cut_ = false;
};

}  // namespace

Result<void> checkRaces(CheckOptions options, const std::string& alone, Judged& all) {
  if (auto ok = refuseResume(options); !ok) return ok;
  auto trace = Trace::open(alone);
  if (!trace) return tl::unexpected(trace.error());
  Operations operations(*trace);
  Races races(std::move(options), all);
  std::uint64_t number = 0;
  for (const Operation& o : operations.all()) {
    // By which a harness names its specification; it is none of its operations.
    if (o.depth != 0 || o.name == "specification") continue;
    if (auto ok = races.against(number++, std::string(o.name), storesOf(*trace, o)); !ok) return ok;
  }
  races.tell();
  return {};
}

}  // namespace blackout
