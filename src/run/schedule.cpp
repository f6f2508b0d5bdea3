#include "run/schedule.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace blackout {

namespace {

// The runtime has room for so many.
constexpr std::size_t kMostSwitches = 1000;

constexpr std::string_view kForms =
    "system; random,SEED[,RATE]; turns,STEPS; priorities,SEED,DEPTH,STEPS; list[,STEP>THREAD]...";

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

// ",STEP>THREAD" and ",THREADeEVENTS>THREAD".
std::optional<std::vector<Switch>> switchesOf(std::string_view text) {
  std::vector<Switch> switches;
  while (!text.empty()) {
    Switch s;
    if (!take(text, ",")) return std::nullopt;
    auto at = takeNumber(text);
    if (!at) return std::nullopt;
    if (take(text, "e")) {
      if (*at > UINT32_MAX) return std::nullopt;
      s.thread = static_cast<std::uint32_t>(*at);
      at = takeNumber(text);
      if (!at) return std::nullopt;
    }
    s.at = *at;
    if (!take(text, ">")) return std::nullopt;
    auto to = takeNumber(text);
    if (!to || *to == 0 || *to > UINT32_MAX) return std::nullopt;
    s.to = static_cast<std::uint32_t>(*to);
    switches.push_back(s);
  }
  return switches;
}

}  // namespace

std::string Schedule::text() const {
  switch (kind) {
    case Kind::System:
      return "system";
    case Kind::Random:
      return fmt::format("random,{},{}", seed, rate);
    case Kind::Turns:
      return fmt::format("turns,{}", length);
    case Kind::Priorities:
      return fmt::format("priorities,{},{},{}", seed, depth, length);
    case Kind::List:
      break;
  }
  std::string text = "list";
  for (const Switch& s : switches)
    text += s.thread == 0 ? fmt::format(",{}>{}", s.at, s.to) : fmt::format(",{}e{}>{}", s.thread, s.at, s.to);
  return text;
}

Result<Schedule> Schedule::parse(std::string_view text) {
  auto wrong = [text] { return fail(fmt::format("no such schedule: {}; there are: {}", text, kForms)); };
  Schedule s;
  std::string_view rest = text;
  if (rest == "system") return s;
  if (take(rest, "list")) {
    auto switches = switchesOf(rest);
    if (!switches) return wrong();
    if (switches->size() > kMostSwitches)
      return fail(fmt::format("a schedule of {} switches: at most {}", switches->size(), kMostSwitches));
    s.kind = Kind::List;
    s.switches = std::move(*switches);
    return s;
  }
  bool random = take(rest, "random"), turns = !random && take(rest, "turns");
  bool priorities = !random && !turns && take(rest, "priorities");
  auto numbers = numbersOf(rest);
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

}  // namespace blackout
