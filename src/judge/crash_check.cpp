#include "judge/crash_check.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "binary/site_places.h"
#include "binary/user_frame.h"
#include "detect/by_site.h"
#include "events/waits.h"
#include "findings/numbers.h"
#include "judge/before_run.h"
#include "judge/intact.h"
#include "judge/likely_points.h"
#include "judge/other_addresses.h"
#include "judge/pool_creation.h"
#include "judge/read_coverage.h"
#include "judge/recovery_detectors.h"
#include "judge/site_coverage.h"
#include "model/crash_trace.h"
#include "run/launch.h"
#include "run/patience.h"

namespace blackout {

namespace {

// Restarts per point in structures like those of the corpus, from few to many; only for the estimate.
constexpr double kFewRunsPerPoint = 0.5;
constexpr double kManyRunsPerPoint = 8;
// Recoveries that are run twice in order to see that they are deterministic.
constexpr std::size_t kRepeated = 16;

// What is known to differ between its runs; that it is the reason is not known.
std::string cureOf(std::uint32_t used) {
  std::string text;
  auto add = [&](std::uint32_t bit, std::string_view why) {
    if ((used & bit) != 0) text += fmt::format("{}{}", text.empty() ? "" : "; ", why);
  };
  add(kUsedThreads, "it has threads, whose order is not fixed (run it with one)");
  add(kUsedTime, "it asks for the time, which --no-pin leaves real (leave that option out)");
  add(kUsedRandom, "it asks for random numbers, which --no-pin leaves real (leave that option out)");
  add(kUsedProcesses, "it starts other processes (let the restart do its work itself)");
  return fmt::format(
      "{}{}it may use addresses, uninitialised memory, or the processor's own clock and random numbers (rdtsc, rdrand) "
      "as values",
      text, text.empty() ? "" : "; or ");
}

std::string nextText(const std::optional<Query>& q, const TrackedBytes& tracked) {
  if (!q) return "ended";
  switch (q->kind) {
    case QueryKind::Path:
      return fmt::format("looked for {}", tracked.paths()[q->subject]);
    case QueryKind::Op:
      return fmt::format("asked for operation {}", q->subject);
    case QueryKind::Bytes:
      break;
  }
  PmAddr addr = addressOf(tracked.line(q->line())) + static_cast<unsigned>(std::countr_zero(q->mask));
  return fmt::format("read {} at offset {:#x} of pool {}",
                     counted(static_cast<std::uint64_t>(std::popcount(q->mask)), "byte"), offsetOf(addr),
                     fileOf(addr).value());
}

std::string divergenceText(const Divergence& d, const TrackedBytes& tracked) {
  return fmt::format("The restarted program is not deterministic: after {} equal reads one run {} and another {}; {}.",
                     grouped(d.at), d.outcome ? "ended in one way" : nextText(d.before, tracked),
                     d.outcome ? "in another" : nextText(d.now, tracked), cureOf(d.usedBefore | d.usedNow));
}

// The commit variables, or an error with the place where one is registered wrongly.
Result<std::vector<CommitVariable>> registered(const Trace& trace, Stacks& stacks) {
  return commitVariables(trace, [&](EventNo n) -> std::string {
    for (const Frame& f : stacks.at(trace, stackOf(trace[n])))
      if (!f.file.empty()) return fmt::format("{}:{}", f.file, f.line);
    return {};
  });
}

class Check {
 public:
  Check(const CrashRunners& runners, const CrashOptions& options, Stacks& stacks)
      : r_(runners),
        o_(options),
        stacks_(stacks),
        index_(runners.baseline.index()),
        patience_(runners.patience ? *runners.patience : Patience(options.interrupt, options.again, options.seconds)) {
    if (!o_.program.input.empty()) {
      std::ifstream in(o_.program.input, std::ios::binary);
      input_.assign(std::istreambuf_iterator<char>(in), {});
    }
  }

  Result<CrashCheck> run() {
    auto pmdk = Trusted::pmdk(index_.trace());
    if (!pmdk) return tl::unexpected(pmdk.error());
    pmdk_ = std::move(*pmdk);
    if (pmdk_) creations_ = poolCreations(index_, *pmdk_);
    interrupted_.resize(creations_.size());
    auto variables = registered(index_.trace(), stacks_);
    if (!variables) return tl::unexpected(variables.error());
    auto intact = restartIntact(r_.ends, r_.uncrashed, stacks_);
    if (!intact) return tl::unexpected(intact.error());
    settleRules(intact->result.outcome);
    Verdict whole = judge(intact->result.outcome, rules_);
    // That much may be what it needs.
    const Outcome& outcome = intact->result.outcome;
    bool byTurns = outcome.ending == Ending::Hung && outcome.text.ends_with(kTurns);
    bool bySteps = outcome.ending == Ending::Hung && outcome.text.empty() && rules_.stepLimit != 0;
    if (outcome.ending == Ending::Bound || bySteps || byTurns) whole.judgement = Judgement::Unknown;
    if (bySteps)
      whole.symptom =
          fmt::format("it made more than {} steps; if it needs them, --steps allows more", rules_.stepLimit);
    if (byTurns) whole.symptom = fmt::format("it made {}; if it needs them, --steps allows more", outcome.text);
    if (whole.judgement == Judgement::Failed && (intact->result.used & kUsedRecorded) != 0)
      whole = unjudgedByOtherFile(whole, intact->result.notes);
    if (whole.judgement == Judgement::Unknown)
      return fail(fmt::format("a restart on what the program left could not be judged: {}", whole.symptom),
                  ExitCode::Inconclusive);
    if (o_.estimate)
      o_.estimate({r_.baseline.count(), intact->seconds,
                   r_.baseline.count() * kFewRunsPerPoint * intact->seconds / std::max(1U, r_.runs.workers()),
                   r_.baseline.count() * kManyRunsPerPoint * intact->seconds / std::max(1U, r_.runs.workers())});
    sayExecuting(*intact);
    auto strategy = makeStrategy(o_.strategy, {.seed = o_.seed, .samples = o_.samples});
    if (!strategy) return tl::unexpected(strategy.error());
    ExploreOptions options = exploreOptions(**strategy);
    if (o_.stages) {
      likely_ = likelyPoints(index_.trace(), programs(), patience_);
      options.first = adversarialTests(*likely_, index_, r_.baseline.points());
    }
    auto explored = Explorer::explore(r_.tracked, r_.baseline, r_.runs, std::move(options));
    if (!explored) return tl::unexpected(explored.error());
    Explorer& explorer = **explored;
    explorer_ = &explorer;
    if (auto ok = repeatSome(); !ok) return tl::unexpected(ok.error());
    sayUnjudgedExits(intact->result.outcome);
    auto before = beforeRun(whole);
    if (!before) return tl::unexpected(before.error());
    bool allFail = before->has_value() && everyRestartFails(**before, intact->result.outcome);
    if (allFail)
      out_.incomplete.push_back(
          fmt::format("Every restart failed, on the pools as they were before the run and as the program left them "
                      "too, so nothing was judged: it {}; try the command by hand.",
                      lastWords(intact->result.outcome)));
    else if (whole.judgement == Judgement::Failed)
      if (auto ok = add(showProgramBug(*intact, index_, rules_)); !ok) return tl::unexpected(ok.error());

    CrashTraces traces(explorer, index_);
    OracleJudge oracle(explorer, rules_, before->has_value() ? &**before : nullptr);
    StateProbe probe(explorer, r_.baseline, r_.runs, traces, oracle);
    ExpectedAnswers expected(probe, r_.baseline, oracle, o_.points.neighbouring(),
                             whole.judgement == Judgement::Fine ? &outcome : nullptr, patience_);
    ProgramGuardians guardians(programs(), patience_);
    RacingReads reads(explorer, r_.baseline, guardians, *variables, o_.points.trusted);
    AnswerJudge answers(AnswerJudge::Wanted::Shown, explorer, oracle, expected, reads);
    AnswerJudge suspicion(AnswerJudge::Wanted::Suspected, explorer, oracle, expected, reads);
    bool inTime = explorer.summary().stop == Stop::Finished || explorer.summary().stop == Stop::MaxRuns;
    bool compare = wants(o_.detect, FindingKind::CrossFailureRace);
    auto orderRules = orderRulesOf(index_.operations(), o_.criterion);
    if (!orderRules) return tl::unexpected(orderRules.error());
    std::optional<OrderJudge> orders;
    if (!*orderRules && o_.needsSpecification)
      out_.incomplete.emplace_back(
          "What restarts answer was not judged: the program does not say what structure it is; build a harness with "
          "<blackout/lin.hpp>, or call blackout_specification().");
    // Where the program says what it is, or prints nothing, its answers are judged by their order alone.
    bool declared = *orderRules && !(*orderRules)->guessed;
    StateJudge& plain = compare && !declared ? static_cast<StateJudge&>(answers) : oracle;
    bool byOrder = declared || !anyPrints();
    if (*orderRules && !allFail)
      judgeOrders(orders, **orderRules, traces, byOrder ? oracle : plain, intact->result.outcome);
    byOrder = byOrder && (declared || orders);
    StateJudge& judge = orders ? static_cast<StateJudge&>(*orders) : plain;
    BadReads bad(explorer, r_.baseline, *variables, reads);
    JudgedExploration judged{{explorer, r_.baseline, r_.runs, traces, judge, expected, reads, bad, stacks_, patience_,
                              orders ? &*orders : nullptr},
                             suspicion,
                             causeOptions(whole),
                             o_.detect,
                             inTime,
                             {}};
    auto found = allFail ? std::vector<ShownFinding>() : judgeRecoveries(judged);
    if (!found) return tl::unexpected(found.error());
    for (ShownFinding& f : *found)
      if (auto ok = add(std::move(f)); !ok) return tl::unexpected(ok.error());
    if (inTime && !allFail) tryElsewhere(judged);
    if (auto ok = tellCreations(judge); !ok) return tl::unexpected(ok.error());
    if (!guardians.leftOut().empty()) out_.incomplete.push_back(guardians.leftOut());
    if (std::uint64_t left = answers.unexplained() + suspicion.unexplained(); left != 0)
      out_.incomplete.push_back(
          fmt::format("What restarts answer after {} looks wrong, but which read is at fault was not found in time, so "
                      "it was not judged.",
                      counted(left, "crash")));
    if (patience_.over() && explorer.summary().stop == Stop::Finished)
      out_.incomplete.push_back(
          fmt::format("{} ended the check while restarts were judged and causes were looked for: findings may be "
                      "missing, and causes not be determined.",
                      patience_.interrupted() ? "An interrupt" : "--time"));
    for (OutcomeNo o : idRange<OutcomeNo>(explorer.outcomeCount()))
      // One that fails has no answer to judge.
      if (explorer.outcome(o).outputCut && explorer.outcome(o).ending == Ending::Exited) {
        out_.incomplete.emplace_back(
            "Restarts printed more than 64 kB, and what came after that was not judged; let them print less.");
        break;
      }
    if (compare && !byOrder && !allFail && inTime && !patience_.over()) sayUnjudgedAnswers(expected);
    if (!expected.oneAnswer() && !expected.marked() && !explorer.summary().races.empty())
      out_.notes.emplace_back(
          "No operation is marked, so what restarts say was compared with what they say with all or none durable of "
          "what "
          "was stored between two ordering points; blackout_op_begin() and blackout_op_end() make that exact.");
    if (before->has_value() && !allFail) sayExcused(**before);
    countRaces(compare && !allFail ? &expected : nullptr, judged.shown);
    if (!allFail) sayUnread(judge);
    if (auto ok = summarise(judge); !ok) return tl::unexpected(ok.error());
    if (likely_) {
      tellLikelyPoints();
      sayNeverReached();
    }
    if (o_.loadsReport) listLoads();
    return std::move(out_);
  }

 private:
  void tryElsewhere(const JudgedExploration& judged) {
    if (!r_.elsewhere || !wants(o_.detect, FindingKind::StalePointer)) return;
    const ShowContext& c = judged.context;
    StateProbe probe(c.explorer, c.baseline, c.runner, c.traces, c.judge);
    auto fails = failsElsewhere(probe, index_, r_.elsewhere, patience_);
    if (!fails) {
      out_.incomplete.push_back(fmt::format(
          "Restarts with other addresses of code, heap and stacks could not be tried: {}.", fails.error().sentence));
    } else if (*fails) {
      std::string read = (*fails)->read == 0 ? std::string() : placeAt((*fails)->read);
      out_.incomplete.push_back(fmt::format(
          "With other addresses of its code, heap and stacks than the recorded process had, a restart {} where it ends "
          "well otherwise: it follows a pointer of the earlier process that is kept encoded{}. No finding can name its "
          "store; keep offsets, or set it anew after a restart.",
          (*fails)->symptom, read.empty() ? read : ", perhaps what it reads at " + read));
    }
  }

  bool anyPrints() const {
    for (OutcomeNo o : idRange<OutcomeNo>(explorer_->outcomeCount()))
      if (!explorer_->outcome(o).output.empty()) return true;
    return false;
  }

  // Makes the judge of orders, if its specification fits. What a program says of itself is wrong otherwise; what is
  // only guessed by names is left.
  void judgeOrders(std::optional<OrderJudge>& orders, const OrderRules& rules, CrashTraces& traces, StateJudge& inner,
                   const Outcome& intact) {
    if (rules.guessed && intact.history.empty()) return;
    orders.emplace(*explorer_, index_, traces, inner, rules);
    auto fits = orders->fits(intact);
    if (fits) return;
    orders.reset();
    if (!rules.guessed)
      out_.incomplete.push_back(fmt::format("What restarts answer was not judged: {}.", fits.error().sentence));
  }

  CauseOptions causeOptions(const Verdict& intact) const {
    CauseOptions options;
    if (intact.judgement == Judgement::Failed) options.withoutCrash = intact.key;
    // Whoever interrupts wants the answer now.
    if (explorer_->summary().stop == Stop::Interrupted) options.examined = 20;
    options.patience = patience_;
    return options;
  }

  // A restart is a fork, which takes well below a millisecond; a program that it executes is loaded each time.
  void sayExecuting(const IntactRestart& intact) {
    if (intact.executing == 0) return;
    out_.notes.push_back(fmt::format(
        "Restarts execute other programs: of the {:.0f} ms that one took, {:.0f} ms went by until they were "
        "loaded, and each restart pays that again; --recover with the program itself is faster.",
        std::ceil(intact.seconds * 1e3), std::ceil(intact.executing * 1e3)));
  }

  void settleRules(const Outcome& intact) {
    rules_.stepLimit = o_.limits.steps;
    rules_.seconds = o_.limits.seconds;
    bool recordedZero = WIFEXITED(o_.recordedStatus) && WEXITSTATUS(o_.recordedStatus) == 0;
    bool intactZero = intact.ending == Ending::Exited && intact.code == 0;
    rules_.exitCodeCounts = o_.checker || o_.expectExit == ExpectExit::Zero ||
                            (o_.expectExit == ExpectExit::Auto && recordedZero && intactZero);
  }

  // Where nobody has said what exit codes mean, and an error may be one or not.
  void sayUnjudgedExits(const Outcome& intact) {
    if (o_.expectExit == ExpectExit::Any && !rules_.exitCodeCounts) out_.exploration.exitCodes = ExitCodes::Ignored;
    if (rules_.exitCodeCounts || o_.expectExit != ExpectExit::Auto) return;
    const Outcome* error = exitsWithError(intact) ? &intact : nullptr;
    for (OutcomeNo o = 0; o.value() < explorer_->outcomeCount() && error == nullptr; ++o)
      if (exitsWithError(explorer_->outcome(o))) error = &explorer_->outcome(o);
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

  // What restarts print where nobody can say what they should: after crashes in what several threads did at once, and
  // after further crashes. Whether it is said must not depend on how the threads took turns.
  void sayUnjudgedAnswers(ExpectedAnswers& expected) {
    if (expected.oneAnswer()) return;
    bool threads = expected.severalThreads(), further = false;
    for (SpaceNo space : idRange<SpaceNo>(explorer_->spaceCount())) {
      bool first = explorer_->space(space).level == 1;
      if (first ? threads : further) continue;
      auto unknown = expected.unjudged(space);
      if (!unknown) return;
      (first ? threads : further) |= *unknown;
    }
    // Where nothing says what is all or nothing, a stretch between two ordering points is a guess in any case.
    if (threads && o_.points.neighbouring())
      (expected.marked() ? out_.incomplete : out_.notes)
          .emplace_back(
              "What restarts print after crashes while several threads were at work was judged only in part: any "
              "mixture "
              "of what they did may be right; let the restart check what it finds.");
    if (further)
      out_.notes.emplace_back(
          "What restarts print after a crash in a restart was not judged: only failures count there.");
  }

  // A clean result speaks of what was observed: bytes that no restart reads may be anything after a crash.
  void sayUnread(StateJudge& judge) {
    ReadCoverage coverage = readCoverage(*explorer_, index_, r_.tracked, pmdk_ ? &*pmdk_ : nullptr);
    out_.exploration.storedBytes = coverage.stored;
    out_.exploration.readBytes = coverage.read;
    // What a bound or the choice of points left out might have read it.
    if (coverage.stored == 0 || explorer_->summary().stop != Stop::Finished || !o_.points.neighbouring()) return;
    constexpr std::string_view kCure =
        "let a restart ask for what the pool should hold, with --recover COMMAND, and --recover-stdin FILE for its "
        "questions";
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
  // Whether all restarts that end well end alike.
  bool alike(StateJudge& judge) {
    const Outcome* first = nullptr;
    for (SpaceNo space : idRange<SpaceNo>(explorer_->spaceCount()))
      for (RecoveryNo recovery : explorer_->space(space).recoveries) {
        if (judge.verdict(space, recovery).judgement != Judgement::Fine) continue;
        const Outcome& outcome = explorer_->outcome(explorer_->outcomeNo(recovery));
        if (first != nullptr && !sameAnswer(*first, outcome)) return false;
        first = &outcome;
      }
    return first != nullptr;
  }

  // Asked only if it matters: where a restart exits with an error that counts.
  Result<std::optional<BeforeRun>> beforeRun(const Verdict& intact) {
    bool refused = intact.judgement == Judgement::Failed;
    for (OutcomeNo o = 0; o.value() < explorer_->outcomeCount() && !refused; ++o)
      refused = rules_.exitCodeCounts && exitsWithError(explorer_->outcome(o));
    if (!refused) return std::optional<BeforeRun>();
    auto end = restartBefore(r_.uncrashed);
    if (!end && patience_.over()) return std::optional<BeforeRun>();
    if (!end) return tl::unexpected(end.error());
    return std::optional<BeforeRun>(std::in_place, *explorer_, r_.baseline, o_.points.neighbouring(),
                                    std::move(end->outcome), rules_);
  }

  // With an exit code: then it is not known whether any of them did anything at all. (A restart that always crashes has
  // shown that it does.)
  bool everyRestartFails(const BeforeRun& before, const Outcome& intact) const {
    if (!rules_.exitCodeCounts || !exitsWithError(intact) || !before.refuses()) return false;
    for (OutcomeNo o : idRange<OutcomeNo>(explorer_->outcomeCount()))
      if (!exitsWithError(explorer_->outcome(o))) return false;
    return true;
  }

  void sayExcused(BeforeRun& before) {
    std::uint64_t excused = 0;
    for (SpaceNo space : idRange<SpaceNo>(explorer_->spaceCount()))
      for (RecoveryNo recovery : explorer_->space(space).recoveries) excused += before.excuses(space, recovery) ? 1 : 0;
    if (excused == 0) return;
    out_.notes.push_back(
        fmt::format("On the pools as they were before the run a restart {}; {} in which it sees no more than that "
                    "count{} as right.",
                    lastWords(before.outcome()), counted(excused, "crash state"), excused == 1 ? "s" : ""));
  }

  ExploreOptions exploreOptions(const Strategy& strategy) {
    ExploreOptions e;
    e.strategy = &strategy;
    e.tree = o_.tree;
    e.crashesInARow = o_.crashesInARow;
    e.seed = o_.seed;
    e.assumeChecksums = o_.assumeChecksums;
    e.maxRuns = o_.maxRuns;
    e.seconds = patience_.left();
    e.interrupt = o_.interrupt;
    e.trackedGrew = r_.trackedGrew;
    e.identity = identity();
    e.resume = o_.resume;
    if (o_.progress)
      e.progress = [this](const Progress& p) {
        for (const Outcome* o : p.newOutcomes)
          if (Verdict v = judge(*o, rules_); v.judgement == Judgement::Failed) failures_.insert(std::move(v.key));
        o_.progress({p, failures_.size()});
      };
    return e;
  }

  // What a saved exploration must agree in.
  std::uint64_t identity() const {
    std::string text = describe(index_.options()) + o_.program.options.text() + input_;
    for (const std::string& word : o_.program.command) text += '\0' + word;
    for (const PoolPattern& p : o_.program.patterns) text += '\0' + p.text;
    text += fmt::format("\n{} {} {}", o_.limits.steps, o_.crashesInARow, o_.folder);
    return XXH3_64bits(text.data(), text.size());
  }

  Result<void> repeatSome() {
    if (patience_.ending() || explorer_->summary().divergence) return {};
    auto diverged = explorer_->repeatSample(kRepeated);
    if (!diverged && patience_.over()) return {};
    if (!diverged) return tl::unexpected(diverged.error());
    if (*diverged) out_.incomplete.push_back(divergenceText(**diverged, r_.tracked));
    return {};
  }

  // What has no place of its own to be told by is one finding, whatever ways restarts take to fail by it.
  bool joined(const Finding& next) {
    for (auto& [f, replay] : out_.findings) {
      if (f.kind != next.kind || f.severity > next.severity || !f.shownBy || !next.shownBy) continue;
      if (!placeless(f) || !placeless(next)) continue;
      f.shownBy->states += next.shownBy->states;
      auto symptomOf = [](const Finding& shown) {
        PlaceNo at = shown.shownBy->failsAt;
        if (at == 0) return OtherSymptom{shown.shownBy->symptom, Frame()};
        const std::vector<Frame>& stack = shown.place(at).stack;
        return OtherSymptom{shown.shownBy->symptom, stack[userFrame(stack)]};
      };
      OtherSymptom other = symptomOf(next);
      if (other != symptomOf(f) && std::find(f.evidence.begin(), f.evidence.end(), Fact(other)) == f.evidence.end())
        f.evidence.push_back(std::move(other));
      return true;
    }
    return false;
  }

  // A restart that failed was seen, whatever it does the next time.
  void noteUnrepeated(const Finding& f) {
    auto unrepeated = [](const Fact& fact) { return std::holds_alternative<NotRepeated>(fact); };
    if (f.kind == FindingKind::CrossFailureRace || !f.shownBy) return;
    if (std::none_of(f.evidence.begin(), f.evidence.end(), unrepeated)) return;
    out_.incomplete.push_back(
        fmt::format("A restart failed ({}), and run once more on the same crash state it did not fail in that way.",
                    f.shownBy->symptom));
  }

  // The creation of a pool that the finding's crash interrupts; none: creations_.size().
  std::size_t creationOf(const Finding& f) const {
    bool oneCrash = f.shownBy && f.shownBy->crashes.size() == 1;
    auto it = std::find_if(creations_.begin(), creations_.end(), [&](const PoolCreation& c) {
      return oneCrash && c.interruptedAt(f.shownBy->crashes.front().event);
    });
    return static_cast<std::size_t>(it - creations_.begin());
  }

  // One finding for each pool whose creation was interrupted.
  Result<void> tellCreations(StateJudge& judge) {
    for (std::size_t i = 0; i < creations_.size(); ++i) {
      if (interrupted_[i].empty()) continue;
      if (o_.points.trusted != nullptr && o_.points.trusted->inside(creations_[i].last)) {
        out_.notes.emplace_back(
            "Restarts fail after a crash inside the call that makes a pool; that call is trusted, so it is no "
            "finding.");
        continue;
      }
      std::uint64_t states = 0, points = 0;
      for (SpaceNo space : idRange<SpaceNo>(explorer_->spaceCount())) {
        const SpaceInfo& info = explorer_->space(space);
        if (info.level > 1 || !creations_[i].interruptedAt(info.at)) continue;
        auto fails = [&](RecoveryNo r) { return judge.verdict(space, r).judgement == Judgement::Failed; };
        auto failing = std::count_if(info.recoveries.begin(), info.recoveries.end(), fails);
        states += static_cast<std::uint64_t>(failing);
        points += failing != 0 ? 1 : 0;
      }
      auto ok = keep(interruptedCreation(creations_[i], *pmdk_, std::move(interrupted_[i]), states, points,
                                         stacks_.at(index_.trace(), creations_[i].where)));
      if (!ok) return ok;
    }
    return {};
  }

  Result<void> add(ShownFinding shown) {
    noteUnrepeated(shown.finding);
    if (std::size_t i = creationOf(shown.finding); i != creations_.size()) {
      interrupted_[i].push_back(std::move(shown));
      return {};
    }
    if (joined(shown.finding)) return {};
    return keep(std::move(shown));
  }

  Result<void> keep(ShownFinding shown) {
    auto trace = crashTrace(shown.state, shown.indexes, shown.replaced);
    if (!trace) return tl::unexpected(trace.error());
    ReplayFile replay;
    replay.command = o_.program.command;
    replay.folder = o_.folder;
    replay.pools = o_.program.patterns;
    replay.input = input_;
    replay.model = describe(index_.options());
    replay.trace = std::move(trace->bytes);
    replay.at = trace->at;
    replay.stepLimit = o_.limits.steps;
    replay.seconds = o_.limits.seconds;
    replay.runtimeOptions = o_.program.options.text();
    replay.exitCodeCounts = rules_.exitCodeCounts;
    replay.expected = std::move(shown.outcome);
    out_.findings.push_back({std::move(shown.finding), std::move(replay)});
    return {};
  }

  // The restarted program and all instrumented code of the recorded one.
  std::vector<std::string> programs() const {
    std::vector<std::string> programs;
    if (!o_.program.command.empty())
      if (auto path = findProgram(o_.program.command.front())) programs.push_back(*path);
    for (const LoadedModule& m : index_.trace().modules())
      if (m.instrumented && std::find(programs.begin(), programs.end(), m.path) == programs.end())
        programs.push_back(m.path);
    return programs;
  }
  // "map.cpp:60"; empty: unknown.
  std::string placeAt(std::uint64_t site) {
    if (const Site* trapped = r_.runs.trappedSite(site)) return shortPlace(*trapped);
    if (!sites_) sites_.emplace(programs());
    return sites_->at(site);
  }

  Result<void> summarise(StateJudge& judge) {
    const ExplorationSummary& s = explorer_->summary();
    ExploredCrashes& e = out_.exploration;
    e.strategy = o_.strategy;
    e.command = o_.program.command;
    e.crashesInARow = o_.crashesInARow;
    e.points = s.points;
    e.completePoints = s.completePoints;
    e.runs = s.runs;
    e.states = s.runsPerSpaceAlone;
    std::map<std::string, std::uint64_t> unknown;
    for (SpaceNo space : idRange<SpaceNo>(explorer_->spaceCount()))
      for (RecoveryNo recovery : explorer_->space(space).recoveries) {
        const Verdict& v = judge.verdict(space, recovery);
        if (v.judgement == Judgement::Failed) ++e.failing;
        if (v.judgement == Judgement::Unknown) ++unknown[v.symptom];
      }
    for (const auto& [why, count] : unknown) e.unjudged += count;
    for (const auto& [why, count] : unknown)
      out_.incomplete.push_back(fmt::format("{} could not be judged: {}.", counted(count, "crash state"), why));
    assumptions(s);
    restrictions(s);
    if (auto ok = bounds(s); !ok) return ok;
    out_.notes.insert(out_.notes.end(), s.notes.begin(), s.notes.end());
    out_.incomplete.insert(out_.incomplete.end(), s.unseen.begin(), s.unseen.end());
    e.notExplored.insert(e.notExplored.end(), out_.incomplete.begin(), out_.incomplete.end());
    return {};
  }

  // Pairs of a store and a read that race across the failure, and how many of them do no harm: no restart fails without
  // the store, and no finding is about such a race. `expected`: what answers were compared with; null: they were not.
  void countRaces(ExpectedAnswers* expected, const std::vector<Cause>& causes) {
    std::set<SiteKey> harmful;
    for (const Cause& c : causes) harmful.insert(c.lostSites.begin(), c.lostSites.end());
    std::map<std::pair<SiteKey, std::uint64_t>, bool> pairs;  // whether answers were compared
    for (const RacedRead& r : explorer_->summary().races) {
      const SpaceInfo& info = explorer_->space(r.space);
      LineId id = info.level == 1 ? index_.lineId(r_.tracked.line(r.line)) : kNoLine;
      if (id == kNoLine) continue;
      bool compared = expected != nullptr && expected->compared(r.space);
      for (const LineStore& s : index_.openStores(id, info.at, 0, index_.historyLength(id, info.at)))
        if ((maskOf(index_, s.store) & r.mask) != 0) {
          auto [pair, fresh] = pairs.try_emplace(
              {siteKey(index_.trace(), index_.trace()[index_.stores()[s.store].event]), r.site}, true);
          pair->second &= compared;
        }
    }
    std::uint64_t told = 0;
    for (const ReplayableFinding& f : out_.findings) told += f.finding.bugClass == BugClass::Race ? 1 : 0;
    ExploredCrashes& e = out_.exploration;
    e.races = pairs.size();
    std::uint64_t benign = 0;
    for (const auto& [pair, compared] : pairs) {
      e.uncomparedRaces += compared ? 0 : 1;
      benign += compared && !harmful.contains(pair.first) ? 1 : 0;
    }
    std::uint64_t compared = e.races - e.uncomparedRaces;
    e.benignRaces = std::min(benign, compared - std::min(compared, told));
  }

  void assumptions(const ExplorationSummary& s) {
    for (const ChecksumAssumption& a : s.assumptions) {
      const Site* trapped = r_.runs.trappedSite(a.record.site);
      AssumedRecord record;
      record.place = a.record.site == 0 ? std::string() : placeAt(a.record.site);
      record.declared = a.record.reader == RecordReader::Declared;
      record.allowed = o_.assumeChecksums;
      record.refuted = a.refuted;
      record.pmdk = trapped != nullptr && isPmdkLibrary(trapped->module);
      record.lines = a.lines;
      record.log10States = std::log10(a.states);
      record.tried = a.tried;
      record.points = a.spaces;
      if (!record.known())
        out_.incomplete.push_back(fmt::format(
            "The record{} may be checksummed, and only {} of {} combinations of its lines were tried. If it is, say so "
            "with --assume checksums or blackout_checksum().",
            record.place.empty() ? std::string() : " at " + record.place, grouped(record.tried),
            countOfLog10(record.log10States)));
      out_.exploration.assumptions.push_back(std::move(record));
    }
  }

  // What the user chose to leave out.
  void restrictions(const ExplorationSummary& s) {
    auto& list = out_.exploration.notExplored;
    if (!o_.points.whole()) {
      std::size_t enough = index_.points(PointsMode::Enough).size();
      list.push_back(fmt::format("Crashes at other points than the {} chosen; {} would be enough.", grouped(s.points),
                                 grouped(enough)));
    }
    if (s.statesTried != 0)
      list.push_back(fmt::format("States that the strategy {} does not choose: it tried {} of {}.", o_.strategy,
                                 grouped(s.statesTried), countOfLog10(s.log10States)));
  }

  Result<void> bounds(const ExplorationSummary& s) {
    auto& list = out_.incomplete;
    if (s.stop != Stop::Finished) {
      std::string by = s.stop == Stop::MaxRuns ? "--max-runs" : s.stop == Stop::Seconds ? "--time" : "an interrupt";
      std::string text = fmt::format("The exploration was ended by {}: {} of {} are complete.", by,
                                     grouped(s.completePoints), counted(s.points, "point"));
      if (!o_.saveTo.empty()) {
        std::error_code error;
        std::filesystem::create_directories(std::filesystem::path(o_.saveTo).parent_path(), error);
        auto saved = explorer_->save(o_.saveTo);
        text += saved ? fmt::format(" The same command with --resume {} goes on from there.", o_.saveTo)
                      : fmt::format(" It could not be saved: {}.", saved.error().sentence);
      }
      list.push_back(std::move(text));
    }
    if (s.overBudget != 0) {
      std::string text = fmt::format("At {} restarts differ in so many ways that only some of them were explored",
                                     counted(s.overBudget, "point"));
      if (const auto& most = s.explosion) {
        std::string place = most->site == 0 ? std::string() : placeAt(most->site);
        text += fmt::format(": at event {}, {} that may be lost {} read{}, and {} were tried",
                            explorer_->space(most->space).at.value(), counted(most->lines, "line"),
                            most->lines == 1 ? "is" : "are", place.empty() ? std::string() : " at " + place,
                            counted(most->tried, "state"));
      }
      list.push_back(text + ".");
    }
    if (s.cutLines != 0)
      list.push_back(fmt::format("{} had more versions than are enumerated.", counted(s.cutLines, "line")));
    if (s.fileChangePoints != 0)
      list.push_back(fmt::format("{} in a restart that had changed a pool's size or name before were not explored.",
                                 counted(s.fileChangePoints, "crash point")));
    if (s.diverged != 0 && s.divergence) list.push_back(divergenceText(*s.divergence, r_.tracked));
    return {};
  }

  // What generated operations did not come by was not tested.
  void sayNeverReached() {
    SiteCoverage coverage = siteCoverage(index_.trace(), programs());
    if (coverage.never.empty()) return;
    constexpr std::size_t kNamed = 8;
    std::string names;
    for (std::size_t i = 0; i < std::min(coverage.never.size(), kNamed); ++i)
      names += (i == 0 ? "" : ", ") + coverage.never[i];
    if (coverage.never.size() > kNamed) names += fmt::format(" and {} more", coverage.never.size() - kNamed);
    out_.notes.push_back(fmt::format(
        "The operations reached {} of {} that store to the structs in persistent memory; never reached: {}. "
        "Other operations may reach them (--operations, --seed, --ops).",
        grouped(coverage.reached), counted(coverage.places, "line"), names));
  }

  void tellLikelyPoints() {
    const LikelyPoints& l = *likely_;
    TestedPoints& out = out_.exploration.likely.emplace();
    out.guardians = l.guardians;
    out.stores = l.stores;
    out.byGuardians = l.byGuardians;
    out.byPublication = l.byPublication;
    out.inferred = l.inferred;
    out.marked = l.marked;
    out.missed = l.missed;
    out.incompleteTests = explorer_->summary().incompleteTests;
    out.unrecoveredTests = explorer_->summary().unrecoveredTests;
    if (!o_.showPoints) return;
    std::map<std::pair<std::string, std::string>, LikelyPointLine> lines;
    for (const LikelyPoint& p : l.points) {
      std::vector<Frame> stack = stacks_.at(index_.trace(), stackOf(index_.trace()[p.store]));
      std::string place;
      if (!stack.empty())
        if (const Frame& at = stack[userFrame(stack)]; !at.file.empty())
          place = fmt::format("{}:{}", at.file.substr(at.file.rfind('/') + 1), at.line);
      LikelyPointLine& line = lines[{place, p.reason}];
      line.place = place;
      line.reason = p.reason;
      ++line.times;
      line.marked += p.marked ? 1 : 0;
      line.inferred += p.inferred ? 1 : 0;
    }
    for (auto& [key, line] : lines) out.lines.push_back(std::move(line));
  }

  void listLoads() {
    struct Row {
      std::set<std::string> stores;
      std::uint64_t states = 0;
    };
    std::map<std::string, Row> loads;
    CrashTraces traces(*explorer_, index_);
    for (SpaceNo space : idRange<SpaceNo>(explorer_->spaceCount())) {
      auto indexes = traces.of(space);
      if (!indexes) continue;
      for (RecoveryNo recovery : explorer_->space(space).recoveries) {
        RecoveryDetail detail = explorer_->detail(space, recovery);
        for (std::size_t i = 0; i < detail.observations.size(); ++i) {
          if (detail.observations[i].classes < 2) continue;
          std::string load = placeAt(detail.observations[i].query.site);
          Row& row = loads[load.empty() ? "a system call or a place without debug information" : load];
          ++row.states;
          for (const StoreRef& ref : explorer_->mayReadFrom(space, recovery, i)) {
            std::string place = "before the recording";
            if (ref.store != kNoStore) {
              const Index& index = *(*indexes)[ref.level - 1];
              place = shortPlace(index.trace(), stackOf(index.trace()[index.stores()[ref.store].event]));
            }
            row.stores.insert(place.empty() ? "a place without debug information" : place);
          }
        }
      }
    }
    for (auto& [load, row] : loads)
      out_.exploration.loads.push_back({load, {row.stores.begin(), row.stores.end()}, row.states});
  }

  const CrashRunners& r_;
  const CrashOptions& o_;
  Stacks& stacks_;
  const Index& index_;
  std::string input_;  // standard input of restarts
  OracleRules rules_;
  Patience patience_;
  std::optional<Trusted> pmdk_;  // its libraries, if the program loaded any
  std::vector<PoolCreation> creations_;
  std::vector<std::vector<ShownFinding>> interrupted_;  // findings that come of each
  Explorer* explorer_ = nullptr;                        // once it is explored
  std::set<std::string> failures_;                      // keys
  std::optional<SitePlaces> sites_;
  std::optional<LikelyPoints> likely_;
  CrashCheck out_;
};

}  // namespace

Result<CrashCheck> checkCrashes(const CrashRunners& runners, const CrashOptions& options, Stacks& stacks) {
  return Check(runners, options, stacks).run();
}

Result<CrashCheck> checkCrashes(const Index& recording, const CrashOptions& options, Stacks& stacks) {
  // Before any process is started.
  if (auto ok = registered(recording.trace(), stacks); !ok) return tl::unexpected(ok.error());
  auto points = choosePoints(recording, options.points);
  if (!points) return tl::unexpected(points.error());
  TrackedBytes tracked = TrackedBytes::of(recording);
  Baseline ends(recording, tracked, uncrashedPoints(recording.trace()));
  RunLimits limits = options.limits;
  Patience patience(options.interrupt, options.again, options.seconds);
  limits.giveUp = [patience] { return patience.over(); };
  auto uncrashed = ProcessRunner::start(options.program, ends, 1, limits);
  if (!uncrashed) return tl::unexpected(uncrashed.error());
  Baseline baseline(recording, tracked, std::move(*points));
  auto runs = ProcessRunner::start(options.program, baseline, options.jobs, limits);
  if (!runs) return tl::unexpected(runs.error());
  auto grew = [&] { return (*runs)->refresh(tracked); };
  std::unique_ptr<ProcessRunner> other;
  auto elsewhere = [&]() -> Result<Runner*> {
    RecoveryProgram program = options.program;
    program.randomAddresses = true;
    auto started = ProcessRunner::start(program, baseline, 1, limits);
    if (!started) return tl::unexpected(started.error());
    other = std::move(*started);
    return other.get();
  };
  return checkCrashes({**uncrashed, ends, **runs, tracked, baseline, grew, patience, elsewhere}, options, stacks);
}

}  // namespace blackout
