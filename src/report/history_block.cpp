#include "report/history_block.h"

#include <fmt/format.h>

#include <algorithm>

#include "binary/user_frame.h"
#include "events/id_text.h"
#include "findings/numbers.h"

namespace blackout {

namespace {

// As many operations before the contradiction are told: what is far away has been explained.
constexpr std::size_t kTold = 6;
// As many lost stores are named.
constexpr std::size_t kNamed = 3;

const NoOrder* noOrderOf(const Finding& f) {
  for (const Fact& fact : f.evidence)
    if (const auto* e = std::get_if<NoOrder>(&fact))
      if (e->contradiction < e->operations.size()) return e;
  return nullptr;
}

bool answersWhether(const NoOrder& e, std::string_view name) {
  if (e.structure != "map" && e.structure != "set") return false;
  return name == "insert" || name == "remove" || name == "update" || name == "contains";
}

// Whether such an operation tells something of the state: where it answers nothing, that is an answer.
bool reads(std::string_view name) {
  constexpr std::string_view kReads[] = {"get", "scan", "read", "contains", "dequeue", "pop"};
  return std::find(std::begin(kReads), std::end(kReads), name) != std::end(kReads);
}

std::string valuesText(const Values& values, std::string_view separator) {
  std::string text;
  for (const Value& v : values) text += fmt::format("{}{}", text.empty() ? "" : separator, textOf(v));
  return text;
}

std::string answerText(const NoOrder& e, std::string_view name, const Values& results) {
  if (results.empty()) return "nothing";
  if (answersWhether(e, name) && results.size() == 1 && results[0].number <= 1 && results[0].bytes.empty())
    return results[0].number != 0 ? "true" : "false";
  return valuesText(results, " ");
}

std::string callText(const NoOrder& e, const HistoryOperation& o) {
  std::string text = fmt::format("{}({})", o.name, valuesText(o.arguments, ", "));
  if (o.finished() && (!o.results.empty() || reads(o.name)))
    text += fmt::format(" -> {}", answerText(e, o.name, o.results));
  return text;
}

std::string either(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i]);
  return text;
}

// Whether an operation before the contradiction was given these values, as what it puts somewhere.
bool written(const NoOrder& e, const Values& values) {
  for (std::uint32_t i = 0; i < e.contradiction; ++i) {
    const Values& arguments = e.operations[i].operation.arguments;
    if (!arguments.empty() && values.size() == 1 && arguments.back() == values[0]) return true;
  }
  return false;
}

bool underWay(const NoOrder& e) {
  return std::any_of(e.operations.begin(), e.operations.begin() + e.contradiction,
                     [](const ToldOperation& o) { return !o.operation.finished(); });
}

std::string whyNot(const NoOrder& e) {
  const HistoryOperation& o = e.operations[e.contradiction].operation;
  std::string text = "no order of the operations explains this answer";
  std::vector<std::string> possible;
  for (const Values& values : e.possible) possible.push_back(answerText(e, o.name, values));
  // Such answers are a value that somebody put, and not whether something is there.
  bool value = reads(o.name) && o.name != "contains";
  bool promised = value && possible.size() == 1 && !e.possible[0].empty() && !underWay(e);
  if (!possible.empty())
    text += promised ? fmt::format(": {} was promised", possible[0])
                     : fmt::format(": it could only be {}", either(possible));
  if (!possible.empty() && value && !o.results.empty() && !written(e, o.results) && e.structure != "counter")
    text += fmt::format(", and nobody wrote {}{}", answerText(e, o.name, o.results),
                        e.structure == "map" || e.structure == "array" ? " there" : "");  // elsewhere somebody may have
  return text + fmt::format(" ({}{} linearizability of a{} {})", e.criterion,
                            e.criterion == "buffered" ? " durable" : "", e.structure == "array" ? "n" : "",
                            e.structure);
}

std::string nameOf(const NamedBytes& b) {
  if (!b.type.empty()) return b.type;
  return fmt::format("{} at offset {:#x}", counted(b.size, "byte"), b.offset);
}

std::string crashText(const Finding& f, std::size_t number) {
  if (!f.shownBy || number >= f.shownBy->crashes.size()) return {};
  const SeenCrash& crash = f.shownBy->crashes[number];
  std::string text = "at the beginning";
  if (crash.after != 0) {
    text = fmt::format("after ({})", crash.after);
    const std::vector<Frame>& stack = f.place(crash.after).stack;
    if (!stack.empty())
      if (const Frame& at = stack[userFrame(stack)]; !at.file.empty())
        text += fmt::format(", {}:{}", at.file.substr(at.file.rfind('/') + 1), at.line);
  }
  if (crash.lost.empty()) return text + ": everything that had been stored was durable";
  std::vector<std::string> lost;
  for (const SeenStore& s : crash.lost)
    if (std::string name = nameOf(s.bytes); std::find(lost.begin(), lost.end(), name) == lost.end())
      lost.push_back(name);
  std::string names;
  for (std::size_t i = 0; i < std::min(lost.size(), kNamed); ++i)
    names += fmt::format("{}{}", i == 0 ? "" : i + 1 == lost.size() ? " and " : ", ", lost[i]);
  if (lost.size() > kNamed) names += fmt::format(" and {} more", lost.size() - kNamed);
  const auto* cause = std::get_if<CrashCause>(&f.claim);
  std::string rest = "all else was durable";
  if (cause != nullptr && cause->second && cause->firstIs == FirstStore::Lost && lost.size() == 1 &&
      nameOf(cause->second->bytes) != lost[0])
    rest = fmt::format("what was stored to {} was not", nameOf(cause->second->bytes));
  return fmt::format("{}: what was stored to {} was lost, {}", text, names, rest);
}

}  // namespace

std::vector<HistoryLine> historyBlock(const Finding& finding) {
  const NoOrder* e = noOrderOf(finding);
  if (e == nullptr) return {};
  std::vector<HistoryLine> lines;
  std::size_t first = e->contradiction > kTold ? e->contradiction - kTold : 0;
  if (first != 0) lines.push_back({"...", fmt::format("{} that can be explained", counted(first, "operation"))});
  unsigned run = first == 0 ? 0 : e->operations[first].run;
  auto crashes = [&](unsigned until) {
    for (; run < until; ++run) lines.push_back({"crash", crashText(finding, run)});
  };
  for (std::size_t i = first; i < e->contradiction; ++i) {
    const ToldOperation& o = e->operations[i];
    crashes(o.run);
    bool restart = finding.shownBy && o.run >= finding.shownBy->crashes.size();
    std::string who = o.thread == 0 ? std::string() : fmt::format("thread {}: ", o.thread);
    lines.push_back({who + callText(*e, o.operation), !o.operation.finished() ? "under way when the power failed"
                                                      : restart               ? "after the restart"
                                                                              : "acknowledged"});
  }
  crashes(e->operations[e->contradiction].run);
  lines.push_back({callText(*e, e->operations[e->contradiction].operation), whyNot(*e)});
  return lines;
}

std::string_view historyTitle(const Finding& finding) {
  const NoOrder* e = noOrderOf(finding);
  if (e == nullptr) return {};
  // The last operation before the first crash that changes something, of those on this part of the structure.
  const HistoryOperation* last = nullptr;
  for (std::uint32_t i = 0; i < e->contradiction; ++i)
    if (e->operations[i].run == 0 && !reads(e->operations[i].operation.name)) last = &e->operations[i].operation;
  if (!e->witnesses.empty()) return "visible but not durable";
  const ToldOperation& wrong = e->operations[e->contradiction];
  bool first = e->contradiction == 0 || e->operations[e->contradiction - 1].run < wrong.run;
  // What the restart itself has changed is there because of that.
  bool changed = std::any_of(e->operations.begin(), e->operations.begin() + e->contradiction,
                             [&](const auto& o) { return o.run == wrong.run && !reads(o.operation.name); });
  if (wrong.run != 0 && changed) return "the structure no longer works";
  if (wrong.run == 0 || last == nullptr) return "something is there that nobody made";
  // What is taken from one end comes one after the other.
  if (e->structure == "queue" || e->structure == "stack") first = true;
  if (!reads(wrong.operation.name) || !first) return "the structure no longer works";
  bool nothing = wrong.operation.results.empty() && !e->possible.empty() &&
                 std::none_of(e->possible.begin(), e->possible.end(), [](const Values& v) { return v.empty(); });
  if (nothing) return "lost after it was acknowledged";
  if (!last->finished()) return "half of an interrupted operation is there";
  return last->name == "remove" ? "undone after it was acknowledged" : "lost after it was acknowledged";
}

}  // namespace blackout
