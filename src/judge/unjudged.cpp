#include "judge/unjudged.h"

#include <fmt/format.h>

#include <cmath>

#include "findings/numbers.h"
#include "judge/read_coverage.h"

namespace blackout {

Unjudged::Unjudged(const Explorer& explorer, const Index& index, const CrashOptions& options, CrashCheck& out)
    : explorer_(explorer), index_(index), o_(options), out_(out) {}

void Unjudged::exits(const OracleRules& rules, const Outcome& intact) {
  if (o_.expectExit == ExpectExit::Any && !rules.exitCodeCounts) out_.exploration.exitCodes = ExitCodes::Ignored;
  if (rules.exitCodeCounts || o_.expectExit != ExpectExit::Auto) return;
  const Outcome* error = exitsWithError(intact) ? &intact : nullptr;
  for (OutcomeNo o = 0; o.value() < explorer_.outcomeCount() && error == nullptr; ++o)
    if (exitsWithError(explorer_.outcome(o))) error = &explorer_.outcome(o);
  if (error == nullptr) return;
  out_.exploration.exitCodes = ExitCodes::Unknown;
  std::string why = error == &intact
                        ? fmt::format("a restart on what the program left {}", lastWords(*error))
                        : fmt::format("the recorded run did not exit with 0; a restart {}", lastWords(*error));
  out_.incomplete.push_back(
      fmt::format("Exit codes of restarts could not be judged, because {}; --expect-exit zero takes that for a "
                  "failure, --expect-exit any for right.",
                  why));
}

void Unjudged::answers(ExpectedAnswers& expected) {
  if (expected.oneAnswer()) return;
  bool threads = expected.severalThreads(), unjudged = false, further = false;
  for (SpaceNo space : idRange<SpaceNo>(explorer_.spaceCount())) {
    bool first = explorer_.space(space).level == 1;
    if (first ? unjudged || (threads && expected.marked()) : further) continue;
    auto unknown = expected.unjudged(space);
    if (!unknown) return;
    (first ? unjudged : further) |= *unknown;
  }
  // Where nothing says what is all or nothing, and every answer was that of a crash that lost all or nothing, there
  // was nothing left to judge this time.
  if ((threads || unjudged) && o_.points.neighbouring())
    (expected.marked() || unjudged ? out_.incomplete : out_.notes)
        .emplace_back(
            "What restarts print after crashes while several threads were at work was judged only in part: any "
            "mixture "
            "of what they did may be right; let the restart check what it finds.");
  if (further)
    out_.notes.emplace_back(
        "What restarts print after a crash in a restart was not judged: only failures count there.");
}

void Unjudged::unread(StateJudge& judge, const TrackedBytes& tracked, const Trusted* pmdk, bool poolIgnored) {
  ReadCoverage coverage = readCoverage(explorer_, index_, tracked, pmdk);
  out_.exploration.storedBytes = coverage.stored;
  out_.exploration.readBytes = coverage.read;
  // What a bound or the choice of points left out might have read it.
  if (coverage.stored == 0 || explorer_.summary().stop != Stop::Finished || !o_.points.neighbouring()) return;
  constexpr std::string_view kCure =
      "let a restart ask for what the pool should hold, with --recover COMMAND, and --recover-stdin FILE for its "
      "questions";
  if (coverage.read == 0 && poolIgnored) return;  // that is said, with the reason
  if (coverage.read == 0)
    out_.incomplete.push_back(
        fmt::format("No restart read any of the {} that the program stored, so nothing is known of what a crash does "
                    "to them; {}.",
                    counted(coverage.stored, "byte"), kCure));
  else if (o_.recordedInput && o_.sameCommand && o_.program.input.empty() && 2 * coverage.read < coverage.stored &&
           alike(judge))
    out_.incomplete.push_back(
        fmt::format("The recorded run read its standard input, which is empty for restarts: they read {} of the {} "
                    "that the program stored, and all that end well say the same; {}.",
                    grouped(coverage.read), counted(coverage.stored, "byte"), kCure));
}

bool Unjudged::alike(StateJudge& judge) {
  const Outcome* first = nullptr;
  for (SpaceNo space : idRange<SpaceNo>(explorer_.spaceCount()))
    for (RecoveryNo recovery : explorer_.space(space).recoveries) {
      if (judge.verdict(space, recovery).judgement != Judgement::Fine) continue;
      const Outcome& outcome = explorer_.outcome(explorer_.outcomeNo(recovery));
      if (first != nullptr && !sameAnswer(*first, outcome)) return false;
      first = &outcome;
    }
  return first != nullptr;
}

void Unjudged::excused(BeforeRun& before) {
  std::uint64_t excused = 0;
  for (SpaceNo space : idRange<SpaceNo>(explorer_.spaceCount()))
    for (RecoveryNo recovery : explorer_.space(space).recoveries) excused += before.excuses(space, recovery) ? 1 : 0;
  if (excused == 0) return;
  out_.notes.push_back(
      fmt::format("On the pools as they were before the run a restart {}; {} in which it sees no more than that "
                  "count{} as right.",
                  lastWords(before.outcome()), counted(excused, "crash state"), excused == 1 ? "s" : ""));
}

void Unjudged::cutOutput() {
  for (OutcomeNo o : idRange<OutcomeNo>(explorer_.outcomeCount()))
    // One that fails has no answer to judge.
    if (explorer_.outcome(o).outputCut && explorer_.outcome(o).ending == Ending::Exited) {
      out_.incomplete.emplace_back(
          "Restarts printed more than 64 kB, and what came after that was not judged; let them print less.");
      return;
    }
}

void Unjudged::unexplained(std::uint64_t crashes) {
  if (crashes == 0) return;
  out_.incomplete.push_back(
      fmt::format("What restarts answer after {} looks wrong, but which read is at fault was not found in time, so "
                  "it was not judged.",
                  counted(crashes, "crash")));
}

void Unjudged::cutShort(const Patience& patience) {
  if (!patience.over() || explorer_.summary().stop != Stop::Finished) return;
  out_.incomplete.push_back(
      fmt::format("{} ended the check while restarts were judged and causes were looked for: findings may be "
                  "missing, and causes not be determined.",
                  patience.interrupted() ? "An interrupt" : "--time"));
}

}  // namespace blackout
