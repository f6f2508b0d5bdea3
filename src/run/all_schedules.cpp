#include "run/all_schedules.h"

namespace blackout {

namespace {

// A step at which there was a choice.
struct Choice {
  std::uint64_t step = 0;
  std::uint32_t of = 0;     // the thread that had the turn
  std::uint32_t ready = 0;  // a bit for each thread
  bool waits = false;
  std::uint32_t taken = 0;
};

std::vector<Choice> choicesOf(const Trace& trace) {
  std::vector<Choice> choices;
  bool open = false;  // the last one waits for the switch that it led to
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (kindOf(e) != EventKind::Switch) continue;
    auto of = static_cast<std::uint32_t>(e.value >> 32), low = static_cast<std::uint32_t>(e.value);
    auto step = static_cast<std::uint32_t>(e.addr);
    if (e.len >= BLACKOUT_SWITCH_STEP) {
      choices.push_back({step, of, low, e.len == BLACKOUT_SWITCH_WAITS, of});
      open = true;
    } else if (open && choices.back().step == step && choices.back().of == of) {
      choices.back().taken = low;
      open = false;
    }
  }
  return choices;
}

}  // namespace

std::optional<Schedule> AllSchedules::next() {
  if (waiting_.empty()) return std::nullopt;
  auto fewest = waiting_.begin();
  last_ = std::move(fewest->second.front());
  fewest->second.pop_front();
  if (fewest->second.empty()) waiting_.erase(fewest);
  --waitingCount_;
  Schedule s;
  s.kind = Schedule::Kind::List;
  s.switches = last_.switches;
  return s;
}

void AllSchedules::ran(const Trace& trace) {
  constexpr std::size_t kMostSwitches = 1000, kMostWaiting = 1000000;
  if (last_.switches.size() == kMostSwitches) {
    complete_ = false;
    return;
  }
  // What was ready is written down for so many threads.
  constexpr std::uint32_t kNamed = 32;
  std::uint64_t behind = last_.switches.empty() ? 0 : last_.switches.back().at;
  for (const Choice& c : choicesOf(trace)) {
    if (c.step <= behind) continue;
    std::uint64_t preemptions = last_.preemptions + (c.waits ? 0 : 1);
    if (preemptions > most_) continue;
    if (trace.lastThread().value() > kNamed) complete_ = false;
    for (std::uint32_t t = 1; t <= kNamed; ++t) {
      if ((c.ready >> (t - 1) & 1) == 0 || t == c.taken || t == c.of) continue;
      if (waitingCount_ == kMostWaiting) {
        complete_ = false;
        return;
      }
      Departures more{last_.switches, preemptions};
      more.switches.push_back({0, c.step, t, Switch::When::Step});
      waiting_[preemptions].push_back(std::move(more));
      ++waitingCount_;
    }
  }
}

}  // namespace blackout
