#include "judge/counting_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "events/trace.h"
#include "infer/analysis.h"
#include "infer/in_child.h"
#include "infer/program_bitcode.h"

namespace blackout {

namespace {

// On the way from the process of the analysis: a line for each property, update and note, with words between tabs.
std::string packed(const CountingProperties& counting, const std::vector<CountedUpdate>& updates) {
  std::string text;
  for (const CountingProperty& p : counting.properties)
    text += fmt::format("p\t{}\t{}\t{}\t{}\n", p.array, p.counter, boundText(p), p.strict() ? 1 : 0);
  for (const CountedUpdate& u : updates) {
    text += fmt::format("u\t{}\t{}", u.property, u.counter.value());
    for (EventNo n : u.array) text += fmt::format("\t{}", n.value());
    text += "\n";
  }
  for (const std::string& s : counting.incomplete) text += fmt::format("n\t{}\n", s);
  return text;
}

std::vector<std::string> words(std::string_view line) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at <= line.size();) {
    std::size_t end = std::min(line.find('\t', at), line.size());
    all.emplace_back(line.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

std::uint32_t number(const std::string& word) {
  std::uint32_t n = 0;
  std::from_chars(word.data(), word.data() + word.size(), n);
  return n;
}

CountingPlan unpacked(std::string_view text) {
  CountingPlan plan;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::vector<std::string> w = words(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
    if (w[0] == "p" && w.size() == 5) {
      plan.properties.push_back({w[1], w[2], w[3], w[4] == "1"});
    } else if (w[0] == "u" && w.size() > 3 && number(w[1]) < plan.properties.size()) {
      CountedUpdate u{number(w[1]), EventNo(number(w[2])), {}};
      for (std::size_t k = 3; k < w.size(); ++k) u.array.push_back(EventNo(number(w[k])));
      plan.updates.push_back(std::move(u));
    } else if (w[0] == "n" && w.size() == 2) {
      plan.notes.push_back(w[1]);
    }
  }
  return plan;
}

}  // namespace

CountingPlan countingPlan(const Trace& trace, const std::vector<std::string>& programs, double seconds,
                          const Patience& patience) {
  // A part of --time at the most: the restarts are what it is for.
  constexpr double kShare = 0.25;
  const double share = kShare * patience.left();
  if (share > 0) seconds = std::min(seconds, share);
  const Patience ownPatience(nullptr, nullptr, share);
  // In a process of its own: bitcode may be anything.
  auto answer = inChild(
      [&]() -> std::string {
        ProgramBitcode bitcode;
        for (const std::string& program : programs) (void)addBitcode(bitcode, program);  // what has none is passed over
        if (bitcode.units.empty()) return {};
        CountingProperties counting = inferCounting(bitcode, {.seconds = seconds});
        return packed(counting, countedUpdates(trace, counting.properties));
      },
      {.seconds = 0, .giveUp = [&] { return patience.over() || ownPatience.ending(); }});
  if (answer) return unpacked(*answer);
  CountingPlan none;
  none.notes.emplace_back("the search for arrays and their counters in the code did not come to an end");
  return none;
}

std::vector<OneSidedTest> oneSidedTests(const CountingPlan& plan, const Index& index,
                                        IdSpan<PointNo, const EventNo> points) {
  std::vector<OneSidedTest> tests;
  auto add = [&](const CountedUpdate& u, EventNo after) {
    auto at = std::upper_bound(points.begin(), points.end(), after);
    if (at == points.end()) return;
    PointNo point(static_cast<std::uint32_t>(at - points.begin()));
    for (OneSidedTest test : {OneSidedTest{point, u.array, {u.counter}}, OneSidedTest{point, {u.counter}, u.array}})
      if (std::find(tests.begin(), tests.end(), test) == tests.end()) tests.push_back(std::move(test));
  };
  for (const CountedUpdate& u : plan.updates) {
    add(u, std::max(u.counter, u.array.back()));
    const Operation* operation = index.operations().outermost(threadOf(index.trace()[u.counter]), u.counter);
    if (operation != nullptr && operation->end != kNever) add(u, operation->end);
  }
  return tests;
}

void nameCounting(const CountingPlan& plan, Finding& finding) {
  const auto* cause = std::get_if<CrashCause>(&finding.claim);
  if (cause == nullptr || !cause->first || cause->first->level != 1) return;
  const EventNo first = cause->first->event;
  for (const CountedUpdate& u : plan.updates) {
    bool counter = first == u.counter;
    if (!counter && !std::binary_search(u.array.begin(), u.array.end(), first)) continue;
    // The other side survives, or the operation had ended: then both should be there.
    PlaceNo kept = 0;
    if (cause->second) {
      bool other = cause->second->level == 1 &&
                   (counter ? std::binary_search(u.array.begin(), u.array.end(), cause->second->event)
                            : cause->second->event == u.counter);
      if (!other) continue;
      kept = cause->second->place;
    } else if (!cause->promised) {
      continue;
    }
    // An update that is not atomic has no side that the crash must lose: the first store is what is there.
    bool begins = cause->firstIs == FirstStore::Begins;
    const CountingPlan::Property& p = plan.properties[u.property];
    finding.evidence.push_back(CountedTogether{p.array, p.counter, p.bound, p.strict, counter != begins,
                                               begins ? kept : cause->first->place,
                                               begins ? cause->first->place : kept});
    return;
  }
}

}  // namespace blackout
