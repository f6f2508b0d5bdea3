#include "judge/crash_check.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>

#include "binary/summing_loop.h"
#include "detect/trusted.h"
#include "events/trace.h"
#include "events/trapped_id.h"
#include "events/waits.h"
#include "judge/before_run.h"
#include "judge/counting_plan.h"
#include "judge/exploration_account.h"
#include "judge/intact.h"
#include "judge/kept_findings.h"
#include "judge/likely_points.h"
#include "judge/other_addresses.h"
#include "judge/recovery_detectors.h"
#include "judge/unjudged.h"
#include "mechanisms/plans.h"
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

// Whoever judges the restarts of an exploration, each on top of those before it.
struct Judges {
  Judges(Explorer& explorer, const CrashRunners& r, const CrashOptions& o, const OracleRules& rules,
         const std::vector<CommitVariable>& variables, ProgramGuardians& guardians, BeforeRun* before,
         const Outcome* intact, const Patience& patience)
      : traces(explorer, r.baseline.index()),
        oracle(explorer, rules, before),
        probe(explorer, r.baseline, r.runs, traces, oracle),
        expected(probe, r.baseline, oracle, o.points.neighbouring(), intact, patience),
        reads(explorer, r.baseline, guardians, variables, o.points.trusted),
        answers(AnswerJudge::Wanted::Shown, explorer, oracle, expected, reads),
        suspicion(AnswerJudge::Wanted::Suspected, explorer, oracle, expected, reads),
        bad(explorer, r.baseline, variables, reads) {}

  // Failures, and wrong answers where these are wanted.
  StateJudge& judge() { return orders ? static_cast<StateJudge&>(*orders) : *plain; }

  CrashTraces traces;
  OracleJudge oracle;
  StateProbe probe;
  ExpectedAnswers expected;
  RacingReads reads;
  AnswerJudge answers, suspicion;
  BadReads bad;
  std::optional<OrderJudge> orders;  // where there is a specification that fits
  StateJudge* plain = &oracle;       // beside it
  bool byOrder = false;              // answers are judged by the order of operations alone
};

class Check {
 public:
  Check(const CrashRunners& runners, const CrashOptions& options, Stacks& stacks)
      : r_(runners),
        o_(options),
        stacks_(stacks),
        index_(runners.baseline.index()),
        input_(contentOf(options.program.input)),
        patience_(runners.patience ? *runners.patience : Patience(options.interrupt, options.again, options.seconds)),
        guardians_(programs(), patience_, {}, o_.guardians),
        kept_(index_, options, rules_, input_, stacks, out_) {}

  Result<CrashCheck> run() {
    for (auto step : {&Check::readRecording, &Check::restartOnIntact, &Check::explore, &Check::judgeWithoutCrash,
                      &Check::chooseJudges, &Check::judgeRestarts, &Check::account})
      if (auto ok = (this->*step)(); !ok) return tl::unexpected(ok.error());
    return std::move(out_);
  }

 private:
  // --- the steps, in their order ---

  Result<void> readRecording() {
    if (auto ok = kept_.findCreations(); !ok) return ok;
    auto variables = registered(index_.trace(), stacks_);
    if (!variables) return tl::unexpected(variables.error());
    variables_ = std::move(*variables);
    return {};
  }

  // First of all: what it says is what restarts after a crash are compared with.
  Result<void> restartOnIntact() {
    auto intact = restartIntact(r_.ends, r_.uncrashed, stacks_);
    if (!intact) return tl::unexpected(intact.error());
    intact_ = std::move(*intact);
    settleRules(intact_->result.outcome);
    whole_ = judgeIntact();
    if (whole_.judgement == Judgement::Unknown)
      return fail(fmt::format("a restart on what the program left could not be judged: {}", whole_.symptom),
                  ExitCode::Inconclusive);
    if (o_.estimate)
      o_.estimate({r_.baseline.count(), intact_->seconds,
                   r_.baseline.count() * kFewRunsPerPoint * intact_->seconds / std::max(1U, r_.runs.workers()),
                   r_.baseline.count() * kManyRunsPerPoint * intact_->seconds / std::max(1U, r_.runs.workers())});
    sayExecuting();
    return {};
  }

  Result<void> explore() {
    auto options = exploreOptions();
    if (!options) return tl::unexpected(options.error());
    auto explored = Explorer::explore(r_.tracked, r_.baseline, r_.runs, std::move(*options));
    if (!explored) return tl::unexpected(explored.error());
    explorer_ = std::move(*explored);
    unjudged_.emplace(*explorer_, index_, o_, out_);
    if (auto ok = repeatSome(); !ok) return ok;
    unjudged_->exits(rules_, intact_->result.outcome);
    return {};
  }

  // What fails without any crash is no crash bug.
  Result<void> judgeWithoutCrash() {
    if (auto ok = restartBeforeRun(); !ok) return ok;
    allFail_ = before_ && everyRestartFails();
    if (allFail_)
      out_.incomplete.push_back(
          fmt::format("Every restart failed, on the pools as they were before the run and as the program left them "
                      "too, so nothing was judged: it {}; try the command by hand.",
                      lastWords(intact_->result.outcome)));
    else if (whole_.judgement == Judgement::Failed)
      return kept_.add(showProgramBug(*intact_, index_, rules_));
    return {};
  }

  Result<void> chooseJudges() {
    judges_.emplace(*explorer_, r_, o_, rules_, variables_, guardians_, before_ ? &*before_ : nullptr,
                    whole_.judgement == Judgement::Fine ? &intact_->result.outcome : nullptr, patience_);
    auto orderRules = o_.judgeOrders ? orderRulesOf(index_.operations(), o_.criterion)
                                     : Result<std::optional<OrderRules>>(std::nullopt);
    if (!orderRules) return tl::unexpected(orderRules.error());
    if (!*orderRules && o_.needsSpecification && o_.judgeOrders && !judgesItself(index_.operations()))
      out_.incomplete.emplace_back(
          "What restarts answer was not judged: the program does not say what structure it is; build a harness with "
          "<blackout/lin.hpp>, or call blackout_specification().");
    // Where the program says what it is, or prints nothing, its answers are judged by their order alone.
    bool declared = *orderRules && !(*orderRules)->guessed;
    if (compares() && !declared) judges_->plain = &judges_->answers;
    bool byOrder = declared || !anyPrints();
    if (*orderRules && !allFail_)
      judgeOrders(**orderRules, byOrder ? static_cast<StateJudge&>(judges_->oracle) : *judges_->plain);
    judges_->byOrder = byOrder && (declared || judges_->orders);
    return {};
  }

  Result<void> judgeRestarts() {
    Judges& j = *judges_;
    judged_.emplace(JudgedExploration{{*explorer_, r_.baseline, r_.runs, j.traces, j.judge(), j.expected, j.reads,
                                       j.bad, stacks_, patience_, j.orders ? &*j.orders : nullptr},
                                      j.suspicion,
                                      causeOptions(),
                                      o_.detect,
                                      o_.plans.get(),
                                      inTime(),
                                      {}});
    auto found = allFail_ ? std::vector<ShownFinding>() : judgeRecoveries(*judged_);
    if (!found) return tl::unexpected(found.error());
    // By the number of restarts and not by the clock, so that a report says the same every time.
    if (!counting_ && !found->empty() && o_.inferSeconds > 0 && explorer_->summary().runs >= kWorthPlanning)
      planCounting();
    for (ShownFinding& f : *found) {
      if (counting_) nameCounting(*counting_, f.finding);
      if (auto ok = kept_.add(std::move(f)); !ok) return ok;
    }
    return {};
  }

  // What was and was not explored and judged.
  Result<void> account() {
    Judges& j = *judges_;
    ExplorationAccount account(*explorer_, r_, o_, stacks_, programs(), out_);
    if (inTime() && !allFail_) tryElsewhere(account);
    if (auto ok = kept_.tellCreations(*explorer_, j.judge()); !ok) return ok;
    if (!guardians_.leftOut().empty()) out_.incomplete.push_back(guardians_.leftOut());
    unjudged_->unexplained(j.answers.unexplained() + j.suspicion.unexplained());
    unjudged_->cutShort(patience_);
    unjudged_->cutOutput();
    if (compares() && !j.byOrder && !allFail_ && inTime() && !patience_.over()) unjudged_->answers(j.expected);
    if (!j.expected.oneAnswer() && !j.expected.marked() && !explorer_->summary().races.empty())
      out_.notes.emplace_back(
          "No operation is marked, so what restarts say was compared with what they say with all or none durable of "
          "what was stored between two ordering points; blackout_op_begin() and blackout_op_end() make that exact.");
    if (before_ && !allFail_) unjudged_->excused(*before_);
    account.countRaces(compares() && !allFail_ ? &j.expected : nullptr, judged_->shown);
    if (!allFail_) unjudged_->unread(j.judge(), r_.tracked, kept_.pmdk(), poolIgnored_);
    ChecksummedRecords checksummed(j.probe, r_.runs, stacks_, programs(), patience_);
    account.summarise(j.judge(), checksummed);
    if (likely_) tellReached(account);
    if (o_.loadsReport) account.listLoads();
    return {};
  }

  // --- without a crash ---

  static std::string contentOf(const std::string& file) {
    if (file.empty()) return {};
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  void settleRules(const Outcome& intact) {
    rules_.stepLimit = o_.limits.steps;
    rules_.seconds = o_.limits.seconds;
    bool recordedZero = WIFEXITED(o_.recordedStatus) && WEXITSTATUS(o_.recordedStatus) == 0;
    bool intactZero = intact.ending == Ending::Exited && intact.code == 0;
    rules_.exitCodeCounts = o_.checker || o_.expectExit == ExpectExit::Zero ||
                            (o_.expectExit == ExpectExit::Auto && recordedZero && intactZero);
  }

  Verdict judgeIntact() const {
    const Outcome& outcome = intact_->result.outcome;
    Verdict whole = judge(outcome, rules_);
    // That much may be what it needs.
    bool byTurns = outcome.ending == Ending::Hung && outcome.text.ends_with(kTurns);
    bool bySteps = outcome.ending == Ending::Hung && outcome.text.empty() && rules_.stepLimit != 0;
    if (outcome.ending == Ending::Bound || bySteps || byTurns) whole.judgement = Judgement::Unknown;
    if (bySteps)
      whole.symptom =
          fmt::format("it made more than {} steps; if it needs them, --steps allows more", rules_.stepLimit);
    if (byTurns) whole.symptom = fmt::format("it made {}; if it needs them, --steps allows more", outcome.text);
    if (whole.judgement == Judgement::Failed && (intact_->result.used & kUsedRecorded) != 0)
      whole = unjudgedByOtherFile(whole, intact_->result.notes);
    return whole;
  }

  // A restart is a fork, which takes well below a millisecond; a program that it executes is loaded each time.
  void sayExecuting() {
    if (intact_->executing == 0) return;
    out_.notes.push_back(fmt::format(
        "Restarts execute other programs: of the {:.0f} ms that one took, {:.0f} ms went by until they were "
        "loaded, and each restart pays that again; --recover with the program itself is faster.",
        std::ceil(intact_->seconds * 1e3), std::ceil(intact_->executing * 1e3)));
  }

  // Asked only if it matters: where a restart exits with an error that counts.
  Result<void> restartBeforeRun() {
    bool refused = whole_.judgement == Judgement::Failed;
    for (OutcomeNo o = 0; o.value() < explorer_->outcomeCount() && !refused; ++o)
      refused = rules_.exitCodeCounts && exitsWithError(explorer_->outcome(o));
    if (!refused) return {};
    auto end = restartBefore(r_.uncrashed);
    if (!end && patience_.over()) return {};
    if (!end) return tl::unexpected(end.error());
    before_.emplace(*explorer_, r_.baseline, o_.points.neighbouring(), std::move(end->outcome), rules_);
    return {};
  }

  // With an exit code: then it is not known whether any of them did anything at all. (A restart that always crashes has
  // shown that it does.)
  bool everyRestartFails() const {
    if (!rules_.exitCodeCounts || !exitsWithError(intact_->result.outcome) || !before_->refuses()) return false;
    for (OutcomeNo o : idRange<OutcomeNo>(explorer_->outcomeCount()))
      if (!exitsWithError(explorer_->outcome(o))) return false;
    return true;
  }

  // --- exploring ---

  Result<ExploreOptions> exploreOptions() {
    ExploreOptions e;
    const bool bounded = o_.maxRuns != 0 || o_.seconds != 0;
    if (o_.stages || o_.strategy.kind == StrategyKind::Tests) {
      likely_ = likelyPoints(index_.trace(), guardians_.accesses());
      e.first = adversarialTests(likely_->of(o_.strategy.around), index_, r_.baseline.points());
    }
    auto strategy = makeStrategy(o_.strategy, {o_.seed, &e.first, o_.plans});
    if (!strategy) return tl::unexpected(strategy.error());
    e.strategy = std::move(*strategy);
    if (bounded && o_.inferSeconds > 0 && !o_.stages && o_.strategy.kind == StrategyKind::Lazy) {
      planCounting();
      e.oneSided = oneSidedTests(*counting_, index_, r_.baseline.points());
    }
    e.tree = o_.tree;
    e.crashesInARow = o_.crashesInARow;
    e.seed = o_.seed;
    e.assumeChecksums = o_.assumeChecksums;
    e.answeredSum = [this, known = std::map<std::uint64_t, bool>()](std::uint64_t site) mutable {
      auto [it, isNew] = known.try_emplace(site);
      if (isNew) it->second = sumsPmdksLogs(site);
      return it->second;
    };
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

  // Whether PMDK's libraries read their own logs by the instruction, to sum them: they answer for their checksums
  // (decision 0030).
  bool sumsPmdksLogs(std::uint64_t site) const {
    const auto& modules = index_.trace().modules();
    return std::any_of(modules.begin(), modules.end(), [&](const LoadedModule& m) {
      return isPmdkLibrary(m.path) && blackout_trapped_name(site) == blackout_name_hash(m.path.c_str()) &&
             readsForFletcher(m.path, blackout_trapped_offset(site));
    });
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

  void planCounting() {
    counting_ = countingPlan(index_.trace(), programs(), o_.inferSeconds, patience_);
    for (const std::string& s : counting_->notes)
      out_.notes.push_back(fmt::format("Which states come first is known in part: {}.", s));
  }

  // --- judging ---

  bool inTime() const {
    return explorer_->summary().stop == Stop::Finished || explorer_->summary().stop == Stop::MaxRuns;
  }
  bool compares() const { return wants(o_.detect, FindingKind::CrossFailureRace); }

  bool anyPrints() const {
    for (OutcomeNo o : idRange<OutcomeNo>(explorer_->outcomeCount()))
      if (!explorer_->outcome(o).output.empty()) return true;
    return false;
  }

  // Makes the judge of orders, if its specification fits. What a program says of itself is wrong otherwise; what is
  // only guessed by names is left.
  void judgeOrders(const OrderRules& rules, StateJudge& inner) {
    const RunEnd& intact = intact_->result;
    if (rules.guessed && intact.outcome.history.empty()) return;
    auto& orders = judges_->orders;
    orders.emplace(*explorer_, index_, judges_->traces, inner, rules);
    const std::string ignored = ignoresPool(index_, intact);
    auto fits = orders->fits(intact.outcome, ignored);
    if (fits) return;
    orders.reset();
    poolIgnored_ = !rules.guessed && !ignored.empty();
    if (!rules.guessed)
      out_.incomplete.push_back(fmt::format("What restarts answer was not judged: {}.", fits.error().sentence));
  }

  CauseOptions causeOptions() const {
    CauseOptions options;
    if (whole_.judgement == Judgement::Failed) options.withoutCrash = whole_.key;
    // Whoever interrupts wants the answer now.
    if (explorer_->summary().stop == Stop::Interrupted) options.examined = 20;
    options.patience = patience_.sooner();  // what is found is run once more, or it is only suspected
    return options;
  }

  void tryElsewhere(ExplorationAccount& account) {
    if (!r_.elsewhere || !wants(o_.detect, FindingKind::StalePointer)) return;
    const ShowContext& c = judged_->context;
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

  void tellReached(ExplorationAccount& account) {
    account.tellLikelyPoints(*likely_);
    out_.reached = intact_->recovery;
    out_.reached.add(index_.trace());
    // What generated operations did not come by was not tested.
    if (std::string never = o_.tellReached ? neverReached(out_.reached.coverage(), o_.generated) : std::string();
        !never.empty())
      out_.notes.push_back(std::move(never));
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
  ProgramGuardians guardians_;
  CrashCheck out_;
  KeptFindings kept_;
  std::vector<CommitVariable> variables_;
  std::set<std::string> failures_;  // keys of what restarts failed with so far
  bool poolIgnored_ = false;        // by a harness: open() does not look at what is there
  std::optional<CountingPlan> counting_;
  // What each step leaves for the next ones.
  std::optional<IntactRestart> intact_;
  Verdict whole_;  // of that restart
  std::optional<LikelyPoints> likely_;
  std::unique_ptr<Explorer> explorer_;
  std::optional<Unjudged> unjudged_;
  std::optional<BeforeRun> before_;
  bool allFail_ = false;  // every restart, with or without a crash
  std::optional<Judges> judges_;
  std::optional<JudgedExploration> judged_;
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
  Baseline baseline(recording, tracked, std::move(*points));
  auto runs = ProcessRunner::start(options.program, baseline, options.jobs, limits, &ends);
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
  return checkCrashes({(*runs)->beside(), ends, **runs, tracked, baseline, grew, patience, elsewhere}, options, stacks);
}

}  // namespace blackout
