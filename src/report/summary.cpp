// The report in a few lines: its verdict, a line for each finding, the summary for scripts.
#include <fmt/format.h>

#include <array>

#include "findings/ending.h"
#include "findings/numbers.h"
#include "report/escape.h"
#include "report/sentence_words.h"
#include "report/sentences.h"
#include "report/text.h"

namespace blackout {

namespace {

// "1 shown, 2 suspected"; empty: nothing was found.
std::string foundText(const Report& report) {
  std::array<std::uint64_t, 3> counts = countBySeverity(report);
  std::string found;
  for (Severity s : {Severity::Shown, Severity::Suspected, Severity::Performance}) {
    std::uint64_t n = counts[static_cast<std::size_t>(s)];
    if (n != 0) found += fmt::format("{}{} {}", found.empty() ? "" : ", ", grouped(n), nameOf(s));
  }
  return found;
}

}  // namespace

std::string verdictLine(const Report& report) {
  std::string found = foundText(report);
  std::string hidden;
  if (report.suppressed() != 0) hidden += fmt::format(" ({} suppressed)", grouped(report.suppressed()));
  if (report.hiddenAsKnown != 0) hidden += fmt::format(" ({} in the baseline)", grouped(report.hiddenAsKnown));
  if (report.hiddenByOnly != 0) hidden += fmt::format(" ({} left out by --only)", grouped(report.hiddenByOnly));
  if (!found.empty())
    return fmt::format("blackout: findings: {}{}{}", found, hidden,
                       report.complete() ? "" : "; and not everything was looked at (inconclusive)");
  if (!report.complete())
    return fmt::format("blackout: inconclusive, nothing found{}: {}", hidden,
                       report.incomplete.size() == 1
                           ? std::string("the reason is below")
                           : fmt::format("{} are below", counted(report.incomplete.size(), "reason")));
  if (!report.exploration) return fmt::format("blackout: no findings{}; crashes were not explored", hidden);
  const ExploredCrashes& e = *report.exploration;
  // "Clean" is said of all crash states of the run, and of nothing less.
  bool all = e.completePoints == e.points && e.notExplored.empty() && report.trusted.empty();
  std::string text = fmt::format("blackout: {}{}: crashes at {}{}, {}",
                                 all ? "clean" : "no findings in what was explored", hidden, counted(e.points, "point"),
                                 e.completePoints == e.points
                                     ? std::string()
                                     : fmt::format(", {} of them completely explored", grouped(e.completePoints)),
                                 counted(e.runs, "restart"));
  if (e.strategy != "lazy" && !e.strategy.empty()) text += "; only states of the strategy " + escapeText(e.strategy);
  for (const AssumedRecord& a : e.assumptions) text += "; assumed: " + escapeText(assumptionOf(a));
  if (!report.trusted.empty())
    text +=
        fmt::format("; {} trusted", report.trusted.size() == 1 ? std::string("1 library")
                                                               : fmt::format("{} libraries", report.trusted.size()));
  return text;
}

std::string findingLine(const Finding& finding, const std::string& root) {
  const Frame* frame = leadingFrame(finding);
  std::string at = frame == nullptr ? std::string("blackout") : positionText(*frame, root);
  std::string verdict = verdictAlone(finding);
  if (verdict.ends_with('.')) verdict.pop_back();
  return fmt::format("{}: {}: {} [{}]", at, finding.severity == Severity::Shown ? "error" : "warning",
                     escapeText(verdict), nameOf(finding.kind));
}

std::string summaryLine(const Report& report) {
  std::string found = foundText(report);
  if (found.empty()) found = report.complete() ? "no findings" : "nothing found";
  // At one place, whatever was found.
  if (!report.complete()) found = "inconclusive, " + found;
  if (report.suppressed() != 0) found += fmt::format(" ({} suppressed)", grouped(report.suppressed()));
  if (report.hiddenAsKnown != 0) found += fmt::format(" ({} in the baseline)", grouped(report.hiddenAsKnown));
  const RunSummary& run = report.run;
  std::string text =
      fmt::format("SUMMARY: blackout: {}; {}, {}, {} {}, {}, {}, {}, {}", found, counted(run.events, "event"),
                  counted(run.stores, "store"), grouped(run.flushes), run.flushes == 1 ? "flush" : "flushes",
                  counted(run.fences, "fence"), counted(run.threads, "thread"), counted(run.lines, "line"),
                  counted(run.points, "point"));
  // Yat's count: what a crash explorer that is not lazy would have to try, also where the bytes are the same.
  if (run.log10States) {
    std::string states = countOfLog10(*run.log10States);
    text += fmt::format(", {} set{} of stores that may survive", states, states == "1" ? "" : "s");
  }
  if (report.exploration)
    text += fmt::format("; {}{} explored, {}",
                        report.exploration->completePoints == report.exploration->points
                            ? std::string()
                            : grouped(report.exploration->completePoints) + " of ",
                        counted(report.exploration->points, "point"), counted(report.exploration->runs, "restart"));
  if (report.exploration)
    for (const AssumedRecord& a : report.exploration->assumptions) text += "; assumed: " + escapeText(assumptionOf(a));
  if (!run.model.empty()) text += "; " + escapeText(run.model);
  if (std::string ending = run.waitStatus ? endingText(*run.waitStatus) : std::string(); !ending.empty())
    text += "; the program ended with " + ending;
  if (report.exploration && report.exploration->exitCodes == ExitCodes::Unknown)
    text += "; exit codes of restarts not judged";
  if (report.exploration && report.exploration->unjudged != 0)
    text += fmt::format("; {} not judged", counted(report.exploration->unjudged, "crash state"));
  return text;
}

}  // namespace blackout
