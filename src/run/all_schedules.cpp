#include "run/all_schedules.h"

namespace blackout {

// A step at which there was a choice.
struct AllSchedules::Choice {
  std::uint64_t step = 0;
  std::uint32_t of = 0;     // the thread that had the turn
  std::uint32_t ready = 0;  // a bit for each thread
  bool waits = false;
  std::uint32_t taken = 0;
  std::uint64_t waiting = 0;  // in the store buffers of the first threads, four bits each
  std::uint32_t seeing = 0;   // a bit for each thread that could tell by its next access what has left them
};

namespace {

// What was ready is written down for so many threads, what waits in their buffers for fewer.
constexpr std::uint32_t kNamed = 32, kBuffers = 16;
constexpr std::uint64_t kMostWaiting = 15;  // or more

template <class Choice>
std::vector<Choice> choicesOf(const Trace& trace) {
  std::vector<Choice> choices;
  bool open = false;  // the last one waits for the switch that it led to
  std::uint64_t waiting = 0;
  std::uint32_t seeing = 0;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (kindOf(e) != EventKind::Switch) continue;
    auto of = static_cast<std::uint32_t>(e.value >> 32), low = static_cast<std::uint32_t>(e.value);
    auto step = static_cast<std::uint32_t>(e.addr);
    if (e.len == BLACKOUT_SWITCH_BUFFERS) {
      waiting = e.value;
      seeing = static_cast<std::uint32_t>(e.addr >> 32);
    } else if (e.len == BLACKOUT_SWITCH_STEP || e.len == BLACKOUT_SWITCH_WAITS) {
      choices.push_back({step, of, low, e.len == BLACKOUT_SWITCH_WAITS, of, waiting, seeing});
      waiting = 0;
      open = true;
    } else if (open && e.len < BLACKOUT_SWITCH_STEP && choices.back().step == step && choices.back().of == of) {
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
  if (buffers_) s.buffers = 0;
  return s;
}

bool AllSchedules::add(std::uint64_t preemptions, const std::vector<Switch>& leaving, const Choice& choice,
                       std::uint32_t to) {
  constexpr std::size_t kMostWaitingSchedules = 1000000, kMostSwitches = 1000;
  if (waitingCount_ == kMostWaitingSchedules || last_.switches.size() + leaving.size() >= kMostSwitches) {
    complete_ = false;
    return false;
  }
  Departures more{last_.switches, preemptions};
  more.switches.insert(more.switches.end(), leaving.begin(), leaving.end());
  if (to != 0) more.switches.push_back({0, choice.step, to, Switch::When::Step});
  waiting_[preemptions].push_back(std::move(more));
  ++waitingCount_;
  return true;
}

bool AllSchedules::depart(const Choice& c, std::uint64_t preemptions, std::vector<std::uint32_t>& waiting,
                          std::vector<Switch>& leaving) {
  auto sees = [&](std::uint32_t t) { return t != 0 && (c.seeing >> (t - 1) & 1) != 0; };
  // The turn goes on as it did, behind what leaves.
  bool seen = !leaving.empty() && (leaving.back().to != c.of || c.taken != c.of) && sees(c.taken);
  if (seen && !add(last_.preemptions, leaving, c, c.taken != c.of ? c.taken : 0)) return false;
  for (std::uint32_t t = 1; t <= kNamed && preemptions <= most_; ++t) {
    if ((c.ready >> (t - 1) & 1) == 0 || t == c.taken || t == c.of || !(leaving.empty() || sees(t))) continue;
    if (!add(preemptions, leaving, c, t)) return false;
  }
  for (std::uint32_t t = 1; t < waiting.size(); ++t) {
    if (waiting[t] == 0) continue;
    --waiting[t];
    leaving.push_back({0, c.step, t, Switch::When::Step, true});
    bool room = depart(c, preemptions, waiting, leaving);
    leaving.pop_back();
    ++waiting[t];
    if (!room) return false;
  }
  return true;
}

void AllSchedules::ran(const Trace& trace) {
  std::uint64_t behind = last_.switches.empty() ? 0 : last_.switches.back().at;
  for (const Choice& c : choicesOf<Choice>(trace)) {
    if (c.step <= behind) continue;
    if (trace.lastThread().value() > kNamed) complete_ = false;
    std::vector<std::uint32_t> waiting(kBuffers + 1);
    for (std::uint32_t t = 1; t <= kBuffers; ++t) {
      waiting[t] = static_cast<std::uint32_t>(c.waiting >> (4 * (t - 1)) & kMostWaiting);
      if (waiting[t] == kMostWaiting) complete_ = false;
    }
    std::vector<Switch> leaving;
    if (!depart(c, last_.preemptions + (c.waits ? 0 : 1), waiting, leaving)) return;
  }
}

}  // namespace blackout
