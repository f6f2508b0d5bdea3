#include "report/text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <span>

#include "binary/user_frame.h"
#include "events/id_text.h"
#include "findings/ending.h"
#include "findings/numbers.h"
#include "report/caveats.h"
#include "report/escape.h"
#include "report/excerpt.h"
#include "report/explanation.h"
#include "report/function_names.h"
#include "report/history_block.h"
#include "report/patch.h"
#include "report/sentence_words.h"
#include "report/sentences.h"

namespace blackout {

namespace {

std::string joined(const std::vector<std::string>& words, std::string_view separator = " ") {
  std::string text;
  for (const std::string& w : words) text += fmt::format("{}{}", text.empty() ? "" : separator, w);
  return text;
}

std::string costText(const Cost& cost) {
  std::string text = fmt::format("{} of {}", grouped(cost.amount), counted(cost.of, cost.unit));
  if (cost.of == 0) return text;
  double percent = 100.0 * static_cast<double>(cost.amount) / static_cast<double>(cost.of);
  return percent < 0.1 ? text + " (less than 0.1%)" : text + fmt::format(" ({:.1f}%)", percent);
}

std::string suppressionText(const SuppressionUse& s) {
  return fmt::format("The suppression {}:{} ({})", s.file, s.line, s.text);
}

std::string stateText(const CrashState& state) {
  std::string text;
  for (const CrashLevel& level : state) {
    std::string_view rest = level.unnamed == UnnamedLines::Newest ? "newest" : "least";
    text += fmt::format("{}just before event {}, with ", text.empty() ? "" : "; then in the restart ", level.at);
    text += level.persisted.empty() ? fmt::format("the {} version of every line", rest)
                                    : fmt::format("{} chosen and the {} version of all others",
                                                  counted(level.persisted.size(), "line"), rest);
  }
  return text;
}

class TextReport {
 public:
  TextReport(const Report& report, const TextOptions& options) : report_(report), options_(options) {}

  std::string render() {
    head();
    if (options_.detail == Detail::Quiet) {
      sentences("inconclusive", "1;33", report_.incomplete);
      line(summaryLine(report_));
      return std::move(out_);
    }
    for (const Finding& f : report_.findings) finding(f);
    sentences("note", "36", report_.notes);
    if (report_.hiddenByOnly != 0)
      sentences("note", "36", {fmt::format("--only left out {}.", counted(report_.hiddenByOnly, "finding"))});
    if (report_.hiddenAsKnown != 0)
      sentences("note", "36",
                {fmt::format("--baseline has {} of this run, which {} left out.",
                             counted(report_.hiddenAsKnown, "finding"), report_.hiddenAsKnown == 1 ? "is" : "are")});
    suppressions();
    sentences("inconclusive", "1;33", report_.incomplete);
    if (!out_.empty() && !out_.ends_with("\n\n")) line("");
    if (report_.mechanisms) mechanisms(*report_.mechanisms);
    if (report_.exploration) exploration(*report_.exploration);
    line("What this result means:");
    bool verbose = options_.detail == Detail::Verbose;
    for (const std::string& s : verbose ? caveatsOf(report_) : caveatsOfThisRun(report_)) line("  - " + escapeText(s));
    if (!verbose)
      line(report_.findings.empty() ? "  - What no result speaks of: 'blackout help limits'."
                                    : "  - What no result speaks of: 'blackout help limits'. What a kind of finding "
                                      "means: 'blackout help KIND'.");
    if (!report_.readySuppressions.empty()) {
      line("suppressions that would hide these:");
      for (const std::string& s : report_.readySuppressions) line("  " + escapeText(s));
    }
    line(summaryLine(report_));
    return std::move(out_);
  }

  std::string render(const Finding& f) {
    finding(f);
    return std::move(out_);
  }

 private:
  // What everybody wants to know, first.
  void head() {
    line(paint("1", verdictLine(report_)));
    for (const Finding& f : report_.findings) line(findingLine(f, options_.root));
    line("");
  }

  void line(std::string_view text) {
    out_ += text;
    out_ += '\n';
  }
  std::string paint(std::string_view sgr, std::string_view text) const {
    return options_.color ? fmt::format("\033[{}m{}\033[0m", sgr, text) : std::string(text);
  }
  std::string path(const std::string& p) const { return escapeText(belowRoot(p, options_.root)); }
  std::string position(const Frame& f) const {
    if (f.file.empty()) return f.module.empty() ? std::string() : fmt::format("({})", path(f.module));
    return positionText(f, options_.root);
  }
  static std::string function(const Frame& f) {
    return f.function.empty() ? std::string("an unknown function") : escapeText(readableName(f.function));
  }
  std::string described(const Frame& f) const {
    std::string at = position(f);
    if (at.empty() && f.function.empty()) return "a place without debug information; build with -g";
    return at.empty() ? "in " + function(f) : fmt::format("{} in {}", at, function(f));
  }

  void sentences(std::string_view head, std::string_view sgr, const std::vector<std::string>& list) {
    for (const std::string& s : list) line(fmt::format("{}: {}", paint(sgr, head), escapeText(s)));
  }

  // What is hidden is said, and what hides nothing, so that it can be taken out.
  void suppressions() {
    std::vector<std::string> notes;
    for (const SuppressionUse& s : report_.suppressions)
      if (s.findings != 0)
        notes.push_back(fmt::format("{} hid {}.", suppressionText(s), counted(s.findings, "finding")));
    for (const SuppressionUse& s : report_.suppressions)
      if (s.findings == 0) notes.push_back(fmt::format("{} matched nothing in this run.", suppressionText(s)));
    sentences("note", "36", notes);
  }

  void exploration(const ExploredCrashes& e) {
    line("Crash exploration:");
    auto item = [&](std::string_view head, std::string_view text) { line(fmt::format("  {:<15} {}", head, text)); };
    std::string points = counted(e.points, "point");
    if (e.completePoints != e.points) points += fmt::format(", {} of them completely", grouped(e.completePoints));
    if (e.crashesInARow > 1) points += fmt::format("; up to {} crashes in a row", e.crashesInARow);
    item("crashes at:", points);
    item("restarts:", fmt::format("{} of {}", grouped(e.runs), escapeText(joined(e.command))));
    std::string states =
        fmt::format("{} that {}", counted(e.states, "crash state"),
                    e.strategy == "lazy" || e.strategy.empty() ? "a restart can distinguish" : "were tried");
    // With several crashes in a row those of the first are not all.
    if (report_.run.log10States && e.crashesInARow <= 1)
      states += fmt::format(" (of {} sets of stores that may survive)", countOfLog10(*report_.run.log10States));
    if (e.failing != 0) states += fmt::format("; {} fail{}", grouped(e.failing), e.failing == 1 ? "s" : "");
    item("they stand for:", states);
    if (e.storedBytes != 0)
      item("they read:",
           fmt::format("{} of {} that the program stored", grouped(e.readBytes), counted(e.storedBytes, "byte")));
    if (e.races != 0)
      item("races:",
           fmt::format(
               "{} of a store and a restart's read of what may be lost; {} benign{}", counted(e.races, "pair"),
               e.benignRaces == e.races ? std::string("all") : grouped(e.benignRaces),
               e.uncomparedRaces == 0 ? std::string() : fmt::format(", {} not compared", grouped(e.uncomparedRaces))));
    if (e.likely) likelyPoints(*e.likely);
    item("strategy:", escapeText(e.strategy));
    for (const AssumedRecord& a : e.assumptions) item("assumed:", escapeText(sentenceOf(a)));
    // What makes the result inconclusive is said there.
    for (const std::string& s : e.notExplored)
      if (std::find(report_.incomplete.begin(), report_.incomplete.end(), s) == report_.incomplete.end())
        item("not explored:", escapeText(s));
    for (const LoadSources& l : e.loads)
      item("load:", escapeText(fmt::format("{} may read from {} ({})", l.load, joined(l.stores, ", "),
                                           counted(l.states, "crash state"))));
    line("");
  }

  void mechanisms(const CheckedMechanisms& m) {
    line("Mechanisms:");
    std::size_t width = std::string_view("unprotected").size();
    for (const MechanismSummary& one : m.mechanisms) width = std::max(width, one.name.size());
    auto item = [&](std::string_view head, std::string_view text) {
      line(fmt::format("  {:<{}}  {}", escapeText(head), width, text));
    };
    for (const MechanismSummary& one : m.mechanisms) {
      std::string text =
          fmt::format("{} checked, {} broken", counted(one.transactions, "transaction"), grouped(one.broken));
      // The finding that most of them have.
      const BrokenMechanism* worst = nullptr;
      for (const Finding& f : report_.findings)
        if (const auto* claim = std::get_if<BrokenMechanism>(&f.claim);
            claim != nullptr && claim->mechanism == one.name)
          if (worst == nullptr || claim->transactions > worst->transactions) worst = claim;
      if (worst != nullptr)
        text +=
            worst->second && worst->rule == MechanismRule::Order
                ? fmt::format(": {} {} before {} ({}) is durable", nameOf(worst->secondPhase),
                              shortPlace(*worst->second), nameOf(worst->firstPhase), shortPlace(worst->first))
                : fmt::format(": {} {} ({})", nameOf(worst->firstPhase), shortPlace(worst->first), nameOf(worst->rule));
      item(one.name, escapeText(text));
    }
    std::string text = fmt::format("{} of {}", grouped(m.unprotected), counted(m.stores, "store"));
    if (m.plansForAll != 0)
      text += fmt::format("; {} instead of {}", counted(m.plans, "crash plan"), grouped(m.plansForAll));
    item("unprotected", text);
    if (m.untyped != 0)
      item("untyped", fmt::format("{}: their bytes have no name, so no description can speak of them",
                                  counted(m.untyped, "store")));
    line("");
  }
  static std::string shortPlace(const SeenStore& s) {
    if (s.at.file.empty()) return "at an unknown place";
    return fmt::format("at {}:{}", s.at.file.substr(s.at.file.rfind('/') + 1), s.at.line);
  }

  void likelyPoints(const TestedPoints& l) {
    auto item = [&](std::string_view head, const std::string& text) { line(fmt::format("  {:<15} {}", head, text)); };
    std::string text = fmt::format("{} of {} {} likely to be linearization points", grouped(l.inferred),
                                   counted(l.stores, "store"), l.inferred == 1 ? "is" : "are");
    if (l.stores != 0) text += fmt::format(" ({:.0f}%)", 100.0 * double(l.inferred) / double(l.stores));
    if (l.marked != 0)
      text += fmt::format("; {} marked by hand, of which {} missed", grouped(l.marked),
                          l.missed == 0   ? std::string("none is")
                          : l.missed == 1 ? std::string("1 is")
                                          : grouped(l.missed) + " are");
    item("points first:", text);
    bool rest =
        report_.exploration->strategy == "lazy" && report_.exploration->completePoints == report_.exploration->points;
    item("tests there:",
         fmt::format("{} incompletely durable, {} unrecovered durable{}", grouped(l.incompleteTests),
                     grouped(l.unrecoveredTests), rest ? "; then all states, then all other points" : ""));
    if (l.lines.empty()) return;
    item("by rules:",
         fmt::format("{} to guardians or by atomic instructions{}, {} to what can be reached already, {} by both",
                     grouped(l.byGuardians), l.guardians ? "" : " (guardians are not known: no bitcode)",
                     grouped(l.byPublication), grouped(l.inferred)));
    for (const LikelyPointLine& p : l.lines)
      item("point:", escapeText(fmt::format("{} {} ({}{}{})", p.place.empty() ? "an unknown place" : p.place, p.reason,
                                            counted(p.times, "time"), p.marked != 0 ? ", marked" : "",
                                            p.inferred == 0 ? ", not inferred" : "")));
  }

  void finding(const Finding& f) {
    const FindingKindRow& row = rowOf(f.kind);
    std::string_view sgr = f.severity == Severity::Shown ? "1;31" : f.severity == Severity::Suspected ? "1;35" : "1;34";
    // Of answers that have no order it is told first what a user sees of it, and then what to fix.
    std::string_view title = historyTitle(f);
    std::string_view also = title.empty() || f.kind == FindingKind::NotLinearizable ? "" : "not-linearizable, ";
    line(fmt::format("{} {} [{}{}]{}", paint(sgr, fmt::format("{}:", nameOf(f.severity))),
                     paint("1", title.empty() ? row.title : title), also, row.name,
                     f.bugClass == BugClass::Race       ? " (cross-failure race)"
                     : f.bugClass == BugClass::Semantic ? " (cross-failure semantic bug)"
                                                        : ""));
    history(f);
    line("  " + escapeText(verdictOf(f)));
    if (std::string told = explanationOf(f); !told.empty()) line("  " + escapeText(told));
    // What a kind means is said once, at its first finding.
    if (options_.detail == Detail::Verbose && explained_.insert(f.kind).second) line("  " + std::string(row.meaning));
    line("");
    for (std::size_t i = 0; i < f.places.size(); ++i) place(i + 1, f.places[i]);
    details(f);
    line("");
  }

  void history(const Finding& f) {
    std::vector<HistoryLine> lines = historyBlock(f);
    if (lines.empty()) return;
    constexpr std::size_t kNarrow = 28, kWide = 56;
    std::size_t width = kNarrow;
    for (const HistoryLine& l : lines) width = std::clamp(escapeText(l.operation).size(), width, kWide);
    for (const HistoryLine& l : lines)
      line(fmt::format("  {:<{}} {}", escapeText(l.operation), width, escapeText(l.remark)));
    line("");
  }

  void place(std::size_t number, const NumberedPlace& p) {
    std::string head = paint("1", fmt::format("({})", number)) + " " + escapeText(p.label);
    if (p.stack.empty()) {
      line("  " + head + (p.where != 0 ? ": " + described({}) : std::string()));
      line("");
      return;
    }
    std::size_t own = userFrame(p.stack);
    const Frame& top = p.stack[own];
    line(fmt::format("  {}: {}", head, described(top)));
    // A place that only this state shows matters less: the line itself, and how the program came there in brief.
    unsigned context = p.incidental ? 0 : options_.detail == Detail::Verbose ? 2 : 1;
    std::vector<ExcerptLine> excerpt = sources_.excerpt(top.file, top.line, top.column, context);
    for (const ExcerptLine& e : excerpt) {
      bool here = e.number == top.line;
      line(trimmed(fmt::format("    {} {:>5} | {}", here ? paint("1", ">") : " ", e.number, e.text)));
      if (here && !e.mark.empty()) line(fmt::format("            | {}", paint("1;32", e.mark)));
    }
    // A fence that was merged has every instruction between the two among its sources: a few say enough.
    const std::size_t kMerged = options_.detail == Detail::Verbose ? 2 : 1;
    for (std::size_t i = 0; i < std::min(p.alsoFrom.size(), kMerged); ++i)
      if (!p.alsoFrom[i].empty())
        line("      or, merged with it by the optimiser: " + described(p.alsoFrom[i].front()));
    if (p.alsoFrom.size() > kMerged)
      line(fmt::format("      ... and {} more places that were merged with it", p.alsoFrom.size() - kMerged));
    if (own != 0) line("      in what it calls: " + described(p.stack.front()));
    // What a finding is about is told with the way there; of the other places the innermost calls are enough.
    bool whole = (options_.detail == Detail::Verbose || number == 1) && !p.incidental;
    stack(std::span(p.stack).subspan(own), whole ? 8 : 3);
    line("");
  }

  // The innermost calls, and the first one of the program itself, however deep in a library the others are.
  void stack(std::span<const Frame> frames, unsigned most) {
    // From the harness on a stack is always the same, and none of the user's.
    auto harness = std::find_if(frames.begin(), frames.end(), [](const Frame& f) {
      return f.file.ends_with("/blackout/lin.hpp") || f.file.find("/blackout/lin/") != std::string::npos;
    });
    if (harness != frames.begin() && harness != frames.end())
      return stack(frames.first(static_cast<std::size_t>(harness - frames.begin())), most);
    std::size_t shown = std::min<std::size_t>(frames.size(), std::max(most, 1U));
    auto call = [&](std::size_t i) {
      line(fmt::format("      {} {}", frames[i - 1].inlined ? "inlined into" : "called from", described(frames[i])));
    };
    for (std::size_t i = 1; i < shown; ++i) call(i);
    auto program = static_cast<std::size_t>(std::find_if(frames.begin(), frames.end(), inProgram) - frames.begin());
    if (program >= shown && program < frames.size()) {
      if (program > shown) line(fmt::format("      ... {} ...", counted(program - shown, "more call")));
      call(program);
      shown = program + 1;
    }
    if (shown < frames.size()) line(fmt::format("      ... and {}", counted(frames.size() - shown, "more call")));
  }

  void details(const Finding& f) {
    auto detail = [&](std::string_view head, std::string_view text) { line(fmt::format("  {} {}", head, text)); };
    std::string type = f.places.empty() ? std::string() : f.places.front().type;
    if (!type.empty()) detail("field:    ", escapeText(type));
    if (!f.operation.empty()) detail("operation:", escapeText(f.operation));
    if (f.counts.times != 0) {
      std::string text = counted(f.counts.times, "time");
      if (f.counts.of != 0) text += fmt::format(", of {} of this instruction", counted(f.counts.of, "execution"));
      detail("count:    ", text);
    }
    if (f.cost) detail("costs:    ", costText(*f.cost));
    for (const AffectedBytes& b : f.examples) {
      std::string text = fmt::format("{} at offset {:#x} of {}", counted(b.size, "byte"), b.offset, path(b.file));
      if (!b.type.empty() && b.type != type) text += fmt::format(" ({})", escapeText(b.type));
      detail("bytes:    ", text);
    }
    if (f.shownBy) {
      detail("crash:    ", escapeText(crashText(*f.shownBy)));
      if (f.shownBy->states != 0)
        detail("states:   ", fmt::format("{} at {} show{} it", counted(f.shownBy->states, "crash state"),
                                         counted(f.shownBy->points, "point"), f.shownBy->states == 1 ? "s" : ""));
    } else if (f.crashState) {
      detail("crash:    ", stateText(*f.crashState));
    }
    // The operations stand above, and what the explanation says.
    for (const Fact& fact : f.evidence)
      if (!std::holds_alternative<NoOrder>(fact) && (options_.detail == Detail::Verbose || !explains(f, fact)))
        detail("evidence: ", escapeText(sentenceOf(fact, f)));
    if (f.shownBy)
      for (const std::string& o : f.shownBy->output) detail("output:   ", escapeText(o));
    if (!f.schedule.empty()) detail("schedule: ", "--schedule " + f.schedule);
    if (!f.operationsFile.empty()) detail("list:     ", path(f.operationsFile));
    if (f.replay) detail("replay:   ", "blackout replay " + path(*f.replay));
    if (std::string hint = hintOf(f); !hint.empty()) detail("hint:     ", hint);
    fix(f);
    detail("id:       ", fingerprintText(f));
  }

  // Nothing is offered that was not tried on all that was explored.
  void fix(const Finding& f) {
    std::optional<Patch> patch = patchOf(f, sources_, options_.root);
    if (!patch) return;
    line(fmt::format("  fix:       {}", escapeText(triedText(*patch->fix))));
    if (f.replay)
      line(fmt::format("             'blackout fix {}' prints it as a patch.", path(*f.replay)));
    else
      changedLines(patch->diff);
  }

  // Of a patch that stands in no file: what it changes.
  void changedLines(std::string_view diff) {
    while (!diff.empty()) {
      std::string_view one = diff.substr(0, diff.find('\n'));
      diff.remove_prefix(std::min(diff.size(), one.size() + 1));
      bool changes =
          (one.starts_with('-') && !one.starts_with("---")) || (one.starts_with('+') && !one.starts_with("+++"));
      if (changes || one.starts_with("@@")) line("             " + escapeText(one));
    }
  }

  static std::string trimmed(std::string s) {
    while (!s.empty() && s.back() == ' ') s.pop_back();
    return s;
  }

  const Report& report_;
  const TextOptions& options_;
  std::string out_;
  std::set<FindingKind> explained_;
  SourceFiles sources_;
};

}  // namespace

std::string renderText(const Report& report, const TextOptions& options) {
  return TextReport(report, options).render();
}

std::string renderFinding(const Finding& finding, const TextOptions& options) {
  return TextReport(Report(), options).render(finding);
}

bool wantsColor(int fd) {
  const char* no = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return (no == nullptr || *no == '\0') && (term == nullptr || std::string_view(term) != "dumb") && isatty(fd) == 1;
}

}  // namespace blackout
