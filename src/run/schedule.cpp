#include "run/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace blackout {

namespace {

// The runtime has room for so many.
constexpr std::size_t kMostSwitches = 1000;

constexpr std::string_view kForms =
    "system; random,SEED[,RATE]; turns,STEPS; priorities,SEED,DEPTH,STEPS; list[,STEP>THREAD]... "
    "(a switch: STEP>THREAD, THREADnSTEP>THREAD or THREADsSTORES>THREAD; after any but the first and the last, "
    "+SWITCH,... goes on with a list; /N behind any but the first: with store buffers, whose oldest store leaves at "
    "one "
    "step in N, of a list /0; STEPeTHREAD or THREADnSTEPeTHREAD in a list: there it leaves that of a thread)";

std::optional<std::uint64_t> takeNumber(std::string_view& text) {
  std::uint64_t n = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return n;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// ",N,N,..." to the end; none: it is something else.
std::optional<std::vector<std::uint64_t>> numbersOf(std::string_view text) {
  std::vector<std::uint64_t> numbers;
  while (!text.empty()) {
    if (!take(text, ",")) return std::nullopt;
    auto n = takeNumber(text);
    if (!n) return std::nullopt;
    numbers.push_back(*n);
  }
  return numbers;
}

// "STEP>THREAD", "THREADnSTEP>THREAD" and "THREADsSTORES>THREAD", each with `before` before it.
std::optional<std::vector<Switch>> switchesOf(std::string_view text, std::string_view before) {
  std::vector<Switch> switches;
  for (; !text.empty(); before = ",") {
    Switch s;
    if (!take(text, before)) return std::nullopt;
    auto at = takeNumber(text);
    if (!at) return std::nullopt;
    bool stores = take(text, "s");
    if (stores || take(text, "n")) {
      if (*at == 0 || *at > UINT32_MAX) return std::nullopt;
      s.thread = static_cast<std::uint32_t>(*at);
      s.when = stores ? Switch::When::Stores : Switch::When::OwnStep;
      at = takeNumber(text);
      if (!at) return std::nullopt;
    }
    s.at = *at;
    s.leaves = s.when != Switch::When::Stores && take(text, "e");
    if (!s.leaves && !take(text, ">")) return std::nullopt;
    auto to = takeNumber(text);
    if (!to || *to == 0 || *to > UINT32_MAX) return std::nullopt;
    s.to = static_cast<std::uint32_t>(*to);
    switches.push_back(s);
  }
  return switches;
}

}  // namespace

std::string Schedule::text() const {
  std::string text;
  switch (kind) {
    case Kind::System:
      return "system";
    case Kind::Random:
      text = fmt::format("random,{},{}", seed, rate);
      break;
    case Kind::Turns:
      text = fmt::format("turns,{}", length);
      break;
    case Kind::Priorities:
      text = fmt::format("priorities,{},{},{}", seed, depth, length);
      break;
    case Kind::List:
      text = "list";
      break;
  }
  if (buffers) text += fmt::format("/{}", *buffers);
  const char* before = kind == Kind::List ? "," : "+";
  for (const Switch& s : switches) {
    text += before;
    if (s.when != Switch::When::Step) text += fmt::format("{}{}", s.thread, s.when == Switch::When::Stores ? 's' : 'n');
    text += fmt::format("{}{}{}", s.at, s.leaves ? 'e' : '>', s.to);
    before = ",";
  }
  return text;
}

Result<Schedule> Schedule::parse(std::string_view text) {
  auto wrong = [text] { return fail(fmt::format("no such schedule: {}; there are: {}", text, kForms)); };
  Schedule s;
  std::string_view rest = text;
  if (rest == "system") return s;
  bool list = take(rest, "list");
  std::string_view head = rest.substr(0, rest.find_first_of(list ? "/," : "/+"));
  rest.remove_prefix(head.size());
  if (take(rest, "/")) {
    s.buffers = takeNumber(rest);
    if (!s.buffers || (list && *s.buffers != 0)) return wrong();
  }
  auto switches = switchesOf(rest, list ? "," : "+");
  if (!switches || (list && !head.empty())) return wrong();
  if (!s.buffers && std::any_of(switches->begin(), switches->end(), [](const Switch& w) { return w.leaves; }))
    return wrong();
  if (switches->size() > kMostSwitches)
    return fail(fmt::format("a schedule of {} switches: at most {}", switches->size(), kMostSwitches));
  s.switches = std::move(*switches);
  if (list) {
    s.kind = Kind::List;
    return s;
  }
  bool random = take(head, "random"), turns = !random && take(head, "turns");
  bool priorities = !random && !turns && take(head, "priorities");
  auto numbers = numbersOf(head);
  if (!numbers) return wrong();
  const std::vector<std::uint64_t>& n = *numbers;
  if (random && (n.size() == 1 || n.size() == 2)) {
    s.kind = Kind::Random;
    s.seed = n[0];
    if (n.size() == 2) s.rate = n[1];
    if (s.rate == 0) return wrong();
  } else if (turns && n.size() == 1 && n[0] != 0) {
    s.kind = Kind::Turns;
    s.length = n[0];
  } else if (priorities && n.size() == 3 && n[1] != 0 && n[1] <= kMostSwitches) {
    s.kind = Kind::Priorities;
    s.seed = n[0];
    s.depth = n[1];
    s.length = n[2];
  } else {
    return wrong();
  }
  return s;
}

Schedule Schedule::usual() {
  Schedule s;
  s.kind = Kind::Random;
  return s;
}

Schedule Schedule::varied(std::uint64_t n, std::uint64_t seed, std::uint64_t steps) {
  Schedule s = usual();
  if (n == 0) return s;
  s.seed = seed + n;
  // Half of them few switches at places that may be anywhere, half of them many.
  if (n % 2 == 0) {
    s.kind = Kind::Priorities;
    s.depth = 2 + n / 2 % 3;
    s.length = steps;
    return s;
  }
  constexpr std::uint64_t kRates[] = {4, 16, 64, 256};
  s.rate = kRates[n / 2 % 4];
  return s;
}

Schedule Schedule::withBuffers(std::uint64_t n) const {
  Schedule s = *this;
  if (!controlled() || buffers) return s;
  constexpr std::uint64_t kRates[] = {8, 2, 32};
  s.buffers = kind == Kind::List ? 0 : kRates[n % 3];
  return s;
}

}  // namespace blackout
