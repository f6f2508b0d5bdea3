#include "check/shrink.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "check/several_recordings.h"
#include "events/trace.h"

namespace blackout {

namespace {

// Each try is a recording and the exploration of its crashes.
constexpr unsigned kTries = 24, kFindings = 4, kAlone = 6;

// The switches of a recorded run, and what left the store buffers by the schedule's choice, by the steps of the thread
// that gives the turn away: so the others mean the same when one of them is left out.
std::vector<Switch> switchesOf(const Trace& trace) {
  std::vector<Switch> switches;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    auto to = static_cast<std::uint32_t>(e.value);
    bool leaves = e.len == BLACKOUT_SWITCH_LEAVES;
    if (kindOf(e) != EventKind::Switch || (e.len >= BLACKOUT_SWITCH_STEP && !leaves) || to == 0) continue;
    switches.push_back({static_cast<std::uint32_t>(e.value >> 32), e.addr >> 32, to, Switch::When::OwnStep, leaves});
  }
  return switches;
}

class Shrinking {
 public:
  // `patience`: for all findings together.
  Shrinking(const CheckOptions& options, Patience patience, std::uint64_t wanted)
      : options_(options), patience_(std::move(patience)), wanted_(wanted) {
    options_.record.pinTime = options_.record.loads = true;
    withoutResume(options_);
  }

  Result<void> run(const Schedule& found) {
    // The switches that were asked for, without what came before them.
    if (!found.switches.empty()) {
      auto shown = tries(found.switches);
      if (!shown) return tl::unexpected(shown.error());
      if (*shown) return reduce(found.switches);
    }
    options_.record.schedule = found;
    auto recording = record(options_.record);
    if (!recording) return tl::unexpected(recording.error());
    std::vector<Switch> all;
    {
      std::shared_ptr<const Trace> trace = recording->trace;
      all = switchesOf(*trace);
    }
    constexpr std::size_t kMostSwitches = 1000;
    if (all.size() > kMostSwitches) return {};
    auto shown = tries(all);
    if (!shown) return tl::unexpected(shown.error());
    return *shown ? reduce(std::move(all)) : Result<void>();
  }

  // The finding as the smallest list showed it; none: no list did.
  std::optional<Judged> best;
  Schedule schedule;

 private:
  // One switch is often enough, the last ones before the others. Then parts of half the list are left out, of a
  // quarter, down to single switches (Zeller's ddmin).
  Result<void> reduce(std::vector<Switch> switches) {
    for (std::size_t k = switches.size(); switches.size() > 1 && k > 0 && switches.size() - k < kAlone; --k) {
      auto shown = tries({switches[k - 1]});
      if (!shown) return tl::unexpected(shown.error());
      if (*shown) return {};
    }
    for (std::size_t part = std::max<std::size_t>(1, switches.size() / 2); !switches.empty();) {
      bool smaller = false;
      for (std::size_t from = 0; from < switches.size();) {
        if (tried_ >= kTries) return {};
        if (switches.size() == 1) {
          // Without any switch the usual way of the threads shows it.
          auto none = tries({});
          return none ? Result<void>() : tl::unexpected(none.error());
        }
        std::vector<Switch> rest = switches;
        auto begin = rest.begin() + static_cast<std::ptrdiff_t>(from);
        rest.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(part, rest.size() - from)));
        auto shown = tries(rest);
        if (!shown) return tl::unexpected(shown.error());
        if (*shown) {
          switches = std::move(rest);
          smaller = true;
        } else {
          from += part;
        }
      }
      if (part == 1 && !smaller) return {};
      part = std::max<std::size_t>(1, part / 2);
    }
    return {};
  }

  Result<bool> tries(const std::vector<Switch>& switches) {
    ++tried_;
    if (patience_.ending()) return false;
    Schedule s;
    s.kind = Schedule::Kind::List;
    s.switches = switches;
    if (options_.model.tso) s.buffers = 0;
    options_.record.schedule = s;
    auto recording = record(options_.record);
    if (!recording) return tl::unexpected(recording.error());
    options_.crash->seconds = patience_.left();
    auto judged = judgeRecording(*recording, options_);
    if (!judged) return tl::unexpected(judged.error());
    auto other = [&](const Finding& f) { return f.severity != Severity::Shown || fingerprint(f) != wanted_; };
    std::erase_if(judged->report.findings, other);
    if (judged->report.findings.empty()) return false;
    std::erase_if(judged->replayable, [&](const ReplayableFinding& r) {
      return r.finding.crashState != judged->report.findings[0].crashState;
    });
    best = std::move(*judged);
    schedule = s;
    return true;
  }

  CheckOptions options_;
  Patience patience_;
  std::uint64_t wanted_;
  unsigned tried_ = 0;
};

}  // namespace

Result<void> shrinkSchedules(const CheckOptions& options, Judged& all) {
  if (!options.crash) return {};
  const Patience patience = patienceOf(options);
  unsigned shrunk = 0;
  for (Finding& finding : all.report.findings) {
    if (finding.severity != Severity::Shown || finding.schedule.empty()) continue;
    auto schedule = Schedule::parse(finding.schedule);
    if (!schedule || *schedule == Schedule::usual()) continue;
    if (patience.ending()) return {};
    if (shrunk++ == kFindings) return {};
    Shrinking shrinking(options, patience, fingerprint(finding));
    if (auto ok = shrinking.run(*schedule); !ok) return ok;
    if (!shrinking.best) continue;
    Finding smaller = std::move(shrinking.best->report.findings[0]);
    smaller.schedule = shrinking.schedule.text();
    smaller.counts = finding.counts;
    if (smaller.shownBy && finding.shownBy) {
      smaller.shownBy->states = finding.shownBy->states;
      smaller.shownBy->points = finding.shownBy->points;
    }
    for (ReplayableFinding& r : shrinking.best->replayable) {
      r.finding.schedule = smaller.schedule;
      all.replayable.push_back(std::move(r));
    }
    finding = std::move(smaller);
  }
  return {};
}

}  // namespace blackout
