#include "judge/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

#include "events/waits.h"

namespace blackout {

namespace {

// Calls `look` with each line until it gives something.
template <class Look>
std::optional<std::string> inLines(std::string_view text, Look look) {
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    if (std::optional<std::string> found = look(text.substr(0, end))) return found;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

// What follows `mark` in the line; nothing if it isn't there.
std::optional<std::string_view> after(std::string_view line, std::string_view mark) {
  std::size_t at = line.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  return line.substr(at + mark.size());
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back())) != 0) s.remove_suffix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front())) != 0) s.remove_prefix(1);
  return s;
}

// "==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x602 at pc ..." and its like.
std::optional<std::string> sanitizerReport(std::string_view output) {
  static constexpr std::array tools = {"AddressSanitizer", "MemorySanitizer", "ThreadSanitizer", "LeakSanitizer",
                                       "HWAddressSanitizer"};
  return inLines(output, [](std::string_view line) -> std::optional<std::string> {
    for (std::string_view tool : tools) {
      for (std::string_view level : {"ERROR: ", "WARNING: "}) {
        auto rest = after(line, fmt::format("{}{}: ", level, tool));
        if (!rest) continue;
        // The address and the process's number say nothing about what it is.
        std::size_t end = std::min({rest->find(" on "), rest->find(" ("), rest->find(": ")});
        return fmt::format("{}: {}", tool, trimmed(rest->substr(0, end)));
      }
    }
    // "map.cpp:60:7: runtime error: load of null pointer of type 'int'"
    if (auto rest = after(line, ": runtime error: "))
      if (std::count(line.begin(), line.end(), ':') >= 4)
        return fmt::format("UndefinedBehaviorSanitizer: {}", trimmed(*rest));
    return std::nullopt;
  });
}

// What a program that aborts has said: assert(), an uncaught exception, the C library's own checks.
std::optional<std::string> abortReason(std::string_view output) {
  std::string thrown;
  auto reason = inLines(output, [&](std::string_view line) -> std::optional<std::string> {
    // glibc: "program: map.cpp:60: int lookup(int): Assertion `p != nullptr' failed."
    if (auto rest = after(line, "Assertion `"); rest && rest->find("' failed") != std::string_view::npos) {
      std::string_view condition = rest->substr(0, rest->rfind("' failed"));
      std::string_view head = line.substr(0, line.find("Assertion `"));
      std::size_t program = head.find(": ");
      std::size_t place = program == std::string_view::npos ? program : head.find(": ", program + 2);
      if (place == std::string_view::npos) return fmt::format("failed assertion: {}", condition);
      return fmt::format("failed assertion: {} ({})", condition, head.substr(program + 2, place - program - 2));
    }
    if (auto rest = after(line, "terminate called after throwing an instance of '"))
      thrown = rest->substr(0, rest->rfind('\''));
    else if (line.starts_with("terminate called without an active exception"))
      return "std::terminate was called";
    else if (auto what = after(line, "  what():  "); what && !thrown.empty())
      return fmt::format("uncaught {}: {}", thrown, trimmed(*what));
    static constexpr std::array checks = {
        "free(): ", "malloc(): ",      "realloc(): ",         "double free ", "corrupted ",    "munmap_chunk(): ",
        "malloc_",  "*** stack smash", "*** buffer overflow", "calloc(): ",   "pure virtual ", "Fatal glibc error"};
    for (std::string_view check : checks)
      if (line.starts_with(check)) return std::string(trimmed(line));
    return std::nullopt;
  });
  if (!reason && !thrown.empty()) return fmt::format("uncaught {}", thrown);
  return reason;
}

std::string signalName(int number) {
  const char* name = sigabbrev_np(number);
  return name == nullptr ? fmt::format("signal {}", number) : fmt::format("SIG{}", name);
}

// Numbers differ between states of one cause ("key 17 is lost").
std::string withoutNumbers(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) {
      out += text[i++];
      continue;
    }
    out += '#';
    while (i < text.size() && std::isalnum(static_cast<unsigned char>(text[i])) != 0) ++i;
  }
  return out;
}

Verdict failed(std::string symptom) {
  std::string key = withoutNumbers(symptom);
  return {Judgement::Failed, std::move(symptom), std::move(key)};
}

// Whether the threads of two restarts made the same operations. How the threads took turns is the system's affair, and
// so is which of them came first.
bool sameOperations(const History& a, const History& b) {
  auto sequences = [](const History& history) {
    std::map<std::uint32_t, std::string> byThread;
    for (const HistoryOperation& o : history)
      byThread[o.thread] += fmt::format("{} {} {}\n{}{}{}\n", o.name.size(), o.arguments.size(), o.finished(), o.name,
                                        encodeValues(o.arguments), encodeValues(o.results));
    std::vector<std::string> sorted;
    for (auto& [thread, text] : byThread) sorted.push_back(std::move(text));
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  };
  return a == b || (a.size() == b.size() && sequences(a) == sequences(b));
}

Verdict unknown(std::string why) { return {Judgement::Unknown, std::move(why), {}}; }

}  // namespace

bool sameButOutput(const Outcome& a, const Outcome& b) {
  return a.ending == b.ending && a.text == b.text && sameOperations(a.history, b.history);
}

bool sameAnswer(const Outcome& a, const Outcome& b) { return a.output == b.output && sameButOutput(a, b); }

std::string lastWords(const Outcome& outcome) {
  constexpr std::size_t kMost = 200;
  std::string_view said = trimmed(outcome.output);
  said.remove_prefix(said.rfind('\n') + 1);
  return fmt::format("exits with {} and says {}", outcome.code,
                     said.empty() ? "nothing" : fmt::format("\"{}\"", trimmed(said.substr(0, kMost))));
}

Verdict judge(const Outcome& outcome, const OracleRules& rules) {
  switch (outcome.ending) {
    case Ending::TimedOut:
      if (!outcome.text.empty()) return unknown(outcome.text);
      return unknown(fmt::format("a restart had not ended {}; if it is only slow, --run-timeout gives it longer",
                                 rules.seconds == 0 ? "in its time" : fmt::format("after {} s", rules.seconds)));
    case Ending::Broken:
      return unknown(outcome.text.empty() ? "a restart could not be followed" : outcome.text);
    case Ending::Hung: {
      Verdict v = failed(!outcome.text.empty()  ? "hangs: " + outcome.text
                         : rules.stepLimit == 0 ? "hangs"
                                                : fmt::format("hangs: more than {} steps", rules.stepLimit));
      v.key = "hangs";  // how that was shown may differ
      return v;
    }
    case Ending::Bound:
      return failed("takes more than a restart may: " + outcome.text);
    case Ending::Expectation:
      return failed(fmt::format("violates an expectation: '{}' does not hold", outcome.text));
    case Ending::Signalled:
    case Ending::Exited:
      break;
  }
  // A sanitizer ends the program its own way, or not at all: its words count, however the run ended.
  if (auto report = sanitizerReport(outcome.output)) return failed("fails under " + *report);
  if (outcome.ending == Ending::Signalled) {
    if (outcome.code == SIGABRT) {
      auto reason = abortReason(outcome.output);
      return failed(reason ? "aborts: " + *reason : std::string("aborts"));
    }
    Verdict v = failed("crashes with " + signalName(outcome.code));
    v.key = v.symptom;  // the signal's number is its kind
    return v;
  }
  if (outcome.code == 0 || !rules.exitCodeCounts) return {};
  Verdict v = failed(fmt::format("exits with {}", outcome.code));
  v.key = v.symptom;
  return v;
}

Verdict unjudgedByOtherFile(const Verdict& failed, const std::vector<std::string>& notes) {
  std::string file = "a file";
  for (std::string_view note : notes) {
    if (!note.starts_with(kReadsRecorded)) continue;
    note.remove_prefix(std::string_view(kReadsRecorded).size());
    file = note.substr(0, note.find(", which the recorded run wrote"));
    break;
  }
  return unknown(
      fmt::format("it {}, but it has read {}, which the recorded run wrote, as it was before the recording; name that "
                  "file with --pm too, so that it is what the crash leaves of it",
                  failed.symptom, file));
}

}  // namespace blackout
