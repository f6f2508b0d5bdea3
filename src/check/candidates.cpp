#include "check/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "check/several_recordings.h"
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

// How many stores the thread has made when this one is guaranteed.
std::uint64_t storesWhileLost(const Index& index, ThreadNo thread, EventNo store) {
  EventNo durable = index.stores()[index.storeOf(store)].guaranteedAt;
  return storesBefore(index.trace(), thread, durable == kNever ? index.trace().end() : durable);
}

// A store, as a schedule and another trace know it, and where its thread is to stand still.
struct Suspect {
  std::uint32_t thread = 0;  // under control
  std::uint64_t stores = 0;  // that it has made with this one
  std::uint64_t until = 0;   // that it has made when it stands still: no fewer
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
  bool touched = false, still = false;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (!still) {
      if (!isStore(e) || !isBy(e, s.thread)) continue;
      if (++made == s.stores) {
        if (siteKey(trace, e) != s.site) return std::nullopt;
        stop = Stop{n};
      }
      still = made == s.until;
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
 public:
  Candidates(CheckOptions options, Judged& all)
      : options_(std::move(options)), base_(options_.record.schedule), all_(all), patience_(patienceOf(options_)) {
    options_.record.pinTime = options_.record.loads = options_.record.locks = true;
    withoutResume(options_);
  }

  Result<void> run() {
    auto recording = record(options_.record);
    if (!recording) return tl::unexpected(recording.error());
    std::shared_ptr<const Trace> trace = recording->trace;
    auto index = Index::build(*trace, options_.model);
    if (!index) return tl::unexpected(index.error());
    auto trusted = trustedBy(options_, *trace);
    if (!trusted) return tl::unexpected(trusted.error());
    std::vector<SeenEarly> candidates = seenEarly(*index, trusted->has_value() ? &**trusted : nullptr);
    std::map<ThreadNo, std::uint32_t> numbers = numbersOf(*trace);
    const std::size_t all = candidates.size();
    uncontrolled_ = std::erase_if(candidates, [&](const SeenEarly& c) {
      return !numbers.contains(c.storedBy) || !numbers.contains(c.accessedBy);
    });
    const std::size_t most = std::min(candidates.size(), std::max<std::size_t>(kTried, options_.schedules));
    std::size_t tried = 0;
    for (; tried < most && !patience_.ending(); ++tried)
      if (auto ok = attempts(*index, candidates[tried], numbers); !ok) return ok;
    tell(all, tried, most);
    return {};
  }

 private:
  enum class Outcome { Shown, Refuted, Infeasible, Undecided };

  // The thread stands still behind the store; where that shows nothing, behind the last store that it makes while this
  // one may be lost: often that is the one that lets others come there (a sequence number, a flag, a link).
  Result<void> attempts(const Index& index, const SeenEarly& c, const std::map<ThreadNo, std::uint32_t>& numbers) {
    const std::uint64_t stores = storesBefore(index.trace(), c.storedBy, c.store) + 1;
    const std::uint64_t last = storesWhileLost(index, c.storedBy, c.store);
    auto outcome = attempt(index, c, numbers, stores, stores);
    if (!outcome) return tl::unexpected(outcome.error());
    bool nothing = *outcome == Outcome::Refuted || *outcome == Outcome::Infeasible;
    if (nothing && last > stores && !patience_.ending()) {
      auto later = attempt(index, c, numbers, stores, last);
      if (!later) return tl::unexpected(later.error());
      if (*later != Outcome::Infeasible) outcome = later;
    }
    ++outcomes_[*outcome];
    return {};
  }

  Result<Outcome> attempt(const Index& index, const SeenEarly& c, const std::map<ThreadNo, std::uint32_t>& numbers,
                          std::uint64_t stores, std::uint64_t until) {
    const Trace& trace = index.trace();
    const Event& store = trace[c.store];
    Suspect s{numbers.at(c.storedBy),  stores, until, store.addr, sizeOf(store), siteKey(trace, store),
              numbers.at(c.accessedBy)};
    options_.record.schedule = base_;
    auto& switches = options_.record.schedule.switches;
    // Where the access came first, its thread waits before the operation that makes it.
    if (c.access < c.store) {
      const Operation* operation = index.operationOf(c.access);
      EventNo from = operation == nullptr ? c.access : operation->begin;
      switches.push_back({s.other, storesBefore(trace, c.accessedBy, from), s.thread, Switch::When::Stores});
    }
    switches.push_back({s.thread, s.until, s.other, Switch::When::Stores});
    auto recording = record(options_.record);
    if (!recording) return tl::unexpected(recording.error());
    CheckOptions judging = options_;
    judging.crash->seconds = patience_.left();
    bool chosen = false;
    {
      std::shared_ptr<const Trace> directed = recording->trace;
      std::optional<Stop> stop = stopOf(*directed, s);
      bool died = !endedWell(*recording, *directed, options_);
      if (died && died_++ == 0) firstDied_ = options_.record.schedule.text();
      if (!stop && !died) {
        tellIncomplete(*recording, all_.report);
        return Outcome::Infeasible;
      }
      // Only crashes while the store may be lost: of others the recording that led here has told.
      if (stop && judging.crash->points.whole()) {
        chosen = true;
        auto directedIndex = Index::build(*directed, judging.model);
        if (!directedIndex) return tl::unexpected(directedIndex.error());
        EventNo durable = directedIndex->stores()[directedIndex->storeOf(stop->store)].guaranteedAt;
        judging.crash->points.mode = PointChoice::Ranges;
        judging.crash->points.ranges = {{stop->store, durable == kNever ? directed->end() : durable}};
      }
    }
    auto judged = judgeRecording(*recording, judging);
    if (!judged) return tl::unexpected(judged.error());
    return take(std::move(*judged), s, chosen);
  }

  // Of a directed run only what a restart showed is told, and why nothing could be said. `chosen`: the points are those
  // that matter for the candidate, and nobody asked for others.
  Outcome take(Judged judged, const Suspect& s, bool chosen) {
    Report& report = judged.report;
    std::erase_if(report.findings, [](const Finding& f) { return f.severity != Severity::Shown; });
    bool shown = std::any_of(report.findings.begin(), report.findings.end(), [&](const Finding& f) {
      return std::any_of(f.places.begin(), f.places.end(), [&](const NumberedPlace& p) {
        return !p.incidental && s.site.known && p.siteId == s.site.id;
      });
    });
    Outcome outcome = shown ? Outcome::Shown : report.incomplete.empty() ? Outcome::Refuted : Outcome::Undecided;
    report.notes.clear();
    if (report.exploration && chosen)
      std::erase_if(report.exploration->notExplored,
                    [](const std::string& sentence) { return sentence.starts_with("Crashes at other points than "); });
    all_.add(std::move(judged), options_.record.schedule.text());
    return outcome;
  }

  void tell(std::size_t all, std::size_t tried, std::size_t most) {
    std::string text = fmt::format("Stores that another thread may see before they are durable, by one recording: {}",
                                   counted(all, "candidate"));
    if (tried != 0)
      text += fmt::format(
          "; tried by schedules and crashes: {} shown, {} refuted, {} where the other thread waits or never gets there",
          outcomes_[Outcome::Shown], outcomes_[Outcome::Refuted], outcomes_[Outcome::Infeasible]);
    if (outcomes_[Outcome::Undecided] != 0) text += fmt::format(", {} not decided", outcomes_[Outcome::Undecided]);
    if (tried < most)
      text += fmt::format("; {} not tried, because of {}", most - tried,
                          patience_.interrupted() ? "an interrupt" : "--time");
    if (std::size_t beyond = all - uncontrolled_ - most; beyond != 0)
      text += fmt::format("; {} not tried, which promise least (--schedules N tries N)", beyond);
    if (uncontrolled_ != 0) text += fmt::format("; {} not tried, by threads that are not under control", uncontrolled_);
    all_.report.notes.push_back(text + ".");
    if (died_ != 0)
      all_.report.incomplete.push_back(
          fmt::format("{} that tried a candidate did not end well, the first under --schedule {}.",
                      counted(died_, "run"), firstDied_));
  }

  CheckOptions options_;
  Schedule base_;
  Judged& all_;
  Patience patience_;
  std::size_t uncontrolled_ = 0;
  std::map<Outcome, std::uint64_t> outcomes_;
  std::uint64_t died_ = 0;
  std::string firstDied_;
};

}  // namespace

Result<void> checkCandidates(CheckOptions options, Judged& all) { return Candidates(std::move(options), all).run(); }

}  // namespace blackout
