#include "judge/crash_check.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>

#include "binary/user_frame.h"
#include "events/trace.h"
#include "events/waits.h"
#include "findings/numbers.h"
#include "judge/before_run.h"
#include "judge/counting_plan.h"
#include "judge/exploration_account.h"
#include "judge/intact.h"
#include "judge/likely_points.h"
#include "judge/other_addresses.h"
#include "judge/pool_creation.h"
#include "judge/read_coverage.h"
#include "judge/recovery_detectors.h"
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
// Restarts that take about as long as the analysis of the code: with fewer a check never waits for it.
constexpr std::uint64_t kWorthPlanning = 1000;

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
    const bool onlyTests = o_.strategy == "tests";
    std::vector<AdversarialTest> tests;
    if (o_.stages || onlyTests) {
      likely_ = likelyPoints(index_.trace(), programs(), patience_);
      tests = adversarialTests(likely_->of(o_.testsAt), index_, r_.baseline.points());
    }
    Result<std::unique_ptr<Strategy>> strategy =
        onlyTests ? Result<std::unique_ptr<Strategy>>(std::make_unique<AdversarialTests>(tests))
                  : makeStrategy(o_.chosen != nullptr ? "lazy" : o_.strategy, {.seed = o_.seed, .samples = o_.samples});
    if (!strategy) return tl::unexpected(strategy.error());
    ExploreOptions options = exploreOptions(o_.chosen != nullptr ? *o_.chosen : **strategy);
    options.first = std::move(tests);
    const bool bounded = o_.maxRuns != 0 || o_.seconds != 0;
    if (bounded && o_.inferSeconds > 0 && !o_.stages && o_.chosen == nullptr && o_.strategy == "lazy") {
      planCounting();
      options.oneSided = oneSidedTests(*counting_, index_, r_.baseline.points());
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
    auto orderRules = o_.judgeOrders ? orderRulesOf(index_.operations(), o_.criterion)
                                     : Result<std::optional<OrderRules>>(std::nullopt);
    if (!orderRules) return tl::unexpected(orderRules.error());
    std::optional<OrderJudge> orders;
    if (!*orderRules && o_.needsSpecification && o_.judgeOrders && !judgesItself(index_.operations()))
      out_.incomplete.emplace_back(
          "What restarts answer was not judged: the program does not say what structure it is; build a harness with "
          "<blackout/lin.hpp>, or call blackout_specification().");
    // Where the program says what it is, or prints nothing, its answers are judged by their order alone.
    bool declared = *orderRules && !(*orderRules)->guessed;
    StateJudge& plain = compare && !declared ? static_cast<StateJudge&>(answers) : oracle;
    bool byOrder = declared || !anyPrints();
    if (*orderRules && !allFail) judgeOrders(orders, **orderRules, traces, byOrder ? oracle : plain, intact->result);
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
    // By the number of restarts and not by the clock, so that a report says the same every time.
    if (!counting_ && !found->empty() && o_.inferSeconds > 0 && explorer.summary().runs >= kWorthPlanning)
      planCounting();
    if (counting_)
      for (ShownFinding& f : *found) nameCounting(*counting_, f.finding);
    for (ShownFinding& f : *found)
      if (auto ok = add(std::move(f)); !ok) return tl::unexpected(ok.error());
    ExplorationAccount account(explorer, r_, o_, stacks_, programs(), out_);
    if (inTime && !allFail) tryElsewhere(judged, account);
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
    account.countRaces(compare && !allFail ? &expected : nullptr, judged.shown);
    if (!allFail) sayUnread(judge);
    ChecksummedRecords checksummed(probe, r_.runs, stacks_, programs(), patience_);
    account.summarise(judge, checksummed);
    if (likely_) {
      account.tellLikelyPoints(*likely_);
      out_.reached = intact->recovery;
      out_.reached.add(index_.trace());
      // What generated operations did not come by was not tested.
      if (std::string never = o_.tellReached ? neverReached(out_.reached.coverage()) : std::string(); !never.empty())
        out_.notes.push_back(std::move(never));
    }
    if (o_.loadsReport) account.listLoads();
    return std::move(out_);
  }

 private:
  void planCounting() {
    counting_ = countingPlan(index_.trace(), programs(), o_.inferSeconds, patience_);
    for (const std::string& s : counting_->notes)
      out_.notes.push_back(fmt::format("Which states come first is known in part: {}.", s));
  }

  void tryElsewhere(const JudgedExploration& judged, ExplorationAccount& account) {
    if (!r_.elsewhere || !wants(o_.detect, FindingKind::StalePointer)) return;
    const ShowContext& c = judged.context;
    StateProbe probe(c.explorer, c.baseline, c.runner, c.traces, c.judge);
    auto fails = failsElsewhere(probe, index_, r_.elsewhere, patience_);
    if (!fails) {
      out_.incomplete.push_back(fmt::format(
          "Restarts with other addresses of code, heap and stacks could not be tried: {}.", fails.error().sentence));
    } else if (*fails) {
      std::string read = (*fails)->read == 0 ? std::string() : account.placeAt((*fails)->read);
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
                   const RunEnd& intact) {
    if (rules.guessed && intact.outcome.history.empty()) return;
    orders.emplace(*explorer_, index_, traces, inner, rules);
    const std::string ignored = ignoresPool(index_, intact);
    auto fits = orders->fits(intact.outcome, ignored);
    if (fits) return;
    orders.reset();
    poolIgnored_ = !rules.guessed && !ignored.empty();
    if (!rules.guessed)
      out_.incomplete.push_back(fmt::format("What restarts answer was not judged: {}.", fits.error().sentence));
  }

  CauseOptions causeOptions(const Verdict& intact) const {
    CauseOptions options;
    if (intact.judgement == Judgement::Failed) options.withoutCrash = intact.key;
    // Whoever interrupts wants the answer now.
    if (explorer_->summary().stop == Stop::Interrupted) options.examined = 20;
    options.patience = patience_.sooner();  // what is found is run once more, or it is only suspected
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
    if (coverage.read == 0 && poolIgnored_) return;  // that is said, with the reason
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
  std::optional<LikelyPoints> likely_;
  bool poolIgnored_ = false;  // by a harness: open() does not look at what is there
  std::optional<CountingPlan> counting_;
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
