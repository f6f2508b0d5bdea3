#include "check/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "detect/by_site.h"
#include "detect/seen_early.h"
#include "events/trace.h"
#include "findings/numbers.h"

namespace blackout {

namespace {

// At least so many candidates are tried, and as many as there are schedules.
constexpr std::uint64_t kTried = 8;

// The threads' numbers under control.
std::map<ThreadNo, std::uint32_t> numbersOf(const Trace& trace) {
  std::map<ThreadNo, std::uint32_t> numbers;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n))
    if (const Event& e = trace[n]; kindOf(e) == EventKind::Switch)
      numbers.emplace(threadOf(e), static_cast<std::uint32_t>(e.value >> 32));
  return numbers;
}

// How many stores the thread has made before the event.
std::uint64_t storesBefore(const Trace& trace, ThreadNo thread, EventNo at) {
  std::uint64_t made = 0;
  for (EventNo n = 0; n < at; n = trace.next(n)) made += isStore(trace[n]) && threadOf(trace[n]) == thread ? 1 : 0;
  return made;
}

// The store that a thread is to stand still after, as a schedule and another trace know it.
struct Suspect {
  std::uint32_t thread = 0;  // under control
  std::uint64_t stores = 0;  // that it has made then
  PmAddr addr = 0;
  std::uint64_t size = 0;
  SiteKey site;
  std::uint32_t other = 0;  // the thread that goes on
};

std::uint64_t sizeOf(const Event& e) { return kindOf(e) == EventKind::LoadRange ? e.value : bytesOf(e); }

// Where the first thread stands still in a directed run.
struct Stop {
  EventNo store = 0;
  EventNo goesOn = kNever;
};
// None: it never came there, or the other one did nothing to those bytes meanwhile.
std::optional<Stop> stopOf(const Trace& trace, const Suspect& s) {
  std::map<ThreadNo, std::uint32_t> numbers = numbersOf(trace);
  auto isBy = [&](const Event& e, std::uint32_t number) {
    auto known = numbers.find(threadOf(e));
    return known != numbers.end() && known->second == number;
  };
  std::uint64_t made = 0;
  std::optional<Stop> stop;
  bool touched = false;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (!stop) {
      if (!isStore(e) || !isBy(e, s.thread) || ++made != s.stores) continue;
      if (siteKey(trace, e) != s.site) return std::nullopt;
      stop = Stop{n};
    } else if (isBy(e, s.thread) && kindOf(e) != EventKind::Switch) {
      stop->goesOn = n;
      break;
    } else if (isBy(e, s.other) && (isStore(e) || groupOf(e) == EventGroup::Load)) {
      touched |= PmRange::at(e.addr, sizeOf(e)).overlaps(PmRange::at(trace[stop->store].addr, s.size));
    }
  }
  return touched ? stop : std::nullopt;
}

class Candidates {
  using Clock = std::chrono::steady_clock;

 public:
  Candidates(CheckOptions options, Judged& all)
      : options_(std::move(options)), base_(options_.record.schedule), all_(all), began_(Clock::now()) {
    options_.record.pinTime = options_.record.loads = options_.record.locks = true;
    seconds_ = options_.crash->seconds;
    // Each is a run by itself: nothing to go on from, nothing to save.
    options_.crash->resume.clear();
    options_.crash->saveTo.clear();
  }

  Result<void> run() {
    auto recording = record(options_.record);
    if (!recording) return tl::unexpected(recording.error());
    auto trace = Trace::open(recording->tracePath);
    if (!trace) return tl::unexpected(trace.error());
    auto index = Index::build(*trace, options_.model);
    if (!index) return tl::unexpected(index.error());
    auto trusted = trustedBy(options_, *trace);
    if (!trusted) return tl::unexpected(trusted.error());
    std::vector<SeenEarly> candidates = seenEarly(*index, trusted->has_value() ? &**trusted : nullptr);
    std::map<ThreadNo, std::uint32_t> numbers = numbersOf(*trace);
    std::uint64_t most = std::max(kTried, options_.schedules), tried = 0;
    for (const SeenEarly& c : candidates) {
      if (tried == most || over()) break;
      if (!numbers.contains(c.storedBy) || !numbers.contains(c.accessedBy)) continue;
      ++tried;
      if (auto ok = attempt(*index, c, numbers); !ok) return ok;
    }
    tell(candidates.size(), tried);
    return {};
  }

 private:
  bool over() const {
    if (options_.crash->interrupt != nullptr && options_.crash->interrupt->load()) return true;
    return seconds_ != 0 && spent() >= seconds_;
  }
  double spent() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  Result<void> attempt(const Index& index, const SeenEarly& c, const std::map<ThreadNo, std::uint32_t>& numbers) {
    const Trace& trace = index.trace();
    const Event& store = trace[c.store];
    Suspect s{numbers.at(c.storedBy),
              storesBefore(trace, c.storedBy, c.store) + 1,
              store.addr,
              sizeOf(store),
              siteKey(trace, store),
              numbers.at(c.accessedBy)};
    options_.record.schedule = base_;
    auto& switches = options_.record.schedule.switches;
    // Where the access came first, its thread waits before the operation that makes it.
    if (c.access < c.store) {
      const Operation* operation = index.operationOf(c.access);
      EventNo from = operation == nullptr ? c.access : operation->begin;
      switches.push_back({s.other, storesBefore(trace, c.accessedBy, from), s.thread, Switch::When::Stores});
    }
    switches.push_back({s.thread, s.stores, s.other, Switch::When::Stores});
    auto recording = record(options_.record);
    if (!recording) return tl::unexpected(recording.error());
    CheckOptions judging = options_;
    if (seconds_ != 0) judging.crash->seconds = std::max(1e-3, seconds_ - spent());
    {
      auto directed = Trace::open(recording->tracePath);
      if (!directed) return tl::unexpected(directed.error());
      std::optional<Stop> stop = stopOf(*directed, s);
      if (!stop) {
        ++infeasible_;
        return {};
      }
      // Only crashes while the store may be lost: of others the recording that led here has told.
      if (judging.crash->points.whole()) {
        auto directedIndex = Index::build(*directed, judging.model);
        if (!directedIndex) return tl::unexpected(directedIndex.error());
        EventNo durable = directedIndex->stores()[directedIndex->storeOf(stop->store)].guaranteedAt;
        judging.crash->points.mode = PointChoice::Ranges;
        judging.crash->points.ranges = {{stop->store, durable == kNever ? directed->end() : durable}};
      }
    }
    auto judged = judgeRecording(*recording, judging);
    if (!judged) return tl::unexpected(judged.error());
    take(std::move(*judged), s);
    return {};
  }

  // Of a directed run only what a restart showed is told, and why nothing could be said.
  void take(Judged judged, const Suspect& s) {
    Report& report = judged.report;
    std::erase_if(report.findings, [](const Finding& f) { return f.severity != Severity::Shown; });
    bool shown = std::any_of(report.findings.begin(), report.findings.end(), [&](const Finding& f) {
      return std::any_of(f.places.begin(), f.places.end(), [&](const NumberedPlace& p) {
        return !p.incidental && s.site.known && p.siteId == s.site.id;
      });
    });
    if (shown)
      ++shown_;
    else if (report.incomplete.empty())
      ++refuted_;
    else
      ++undecided_;
    report.notes.clear();
    if (report.exploration) report.exploration->notExplored = report.incomplete;
    all_.add(std::move(judged), options_.record.schedule.text());
  }

  void tell(std::uint64_t all, std::uint64_t tried) {
    std::string text = fmt::format("Stores that another thread may see before they are durable, by one recording: {}",
                                   counted(all, "candidate"));
    if (tried != 0)
      text += fmt::format(
          "; tried by schedules and crashes: {} shown, {} refuted, {} where the other thread waits or never gets there",
          shown_, refuted_, infeasible_);
    if (undecided_ != 0) text += fmt::format(", {} not decided", undecided_);
    if (tried < all) text += fmt::format("; {} not tried, which promise least (--schedules N tries N)", all - tried);
    all_.report.notes.push_back(text + ".");
  }

  CheckOptions options_;
  Schedule base_;
  Judged& all_;
  Clock::time_point began_;
  double seconds_ = 0;  // 0: no bound
  std::uint64_t shown_ = 0, refuted_ = 0, infeasible_ = 0, undecided_ = 0;
};

}  // namespace

Result<void> checkCandidates(CheckOptions options, Judged& all) { return Candidates(std::move(options), all).run(); }

}  // namespace blackout
