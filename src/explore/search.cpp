#include "explore/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "explore/novelty.h"
#include "explore/seeded.h"

namespace blackout {

namespace {

// As many spaces are open at a time, at most: enough for any number of workers, few enough to move between.
constexpr std::size_t kWindow = 256;
// As many restrictions are walked in one round.
constexpr std::uint64_t kRound = 1024;
constexpr std::uint64_t kSamplesOverBudget = 64;
// Recoveries of one space in the first pass; beyond them its cheap states.
constexpr std::uint64_t kCheap = 100;
constexpr auto kReportEvery = std::chrono::milliseconds(250);

Restriction with(Restriction r, TrackedNo w, std::vector<std::uint32_t> versions) {
  auto at =
      std::lower_bound(r.allowed.begin(), r.allowed.end(), w, [](const auto& a, TrackedNo b) { return a.first < b; });
  if (at == r.allowed.end() || at->first != w) at = r.allowed.insert(at, {w, {}});
  at->second = std::move(versions);
  return r;
}

}  // namespace

Search::Search(Exploration& exploration, Runner& runner, const ExploreOptions& options, const Strategy& strategy,
               ExplorationSummary& summary)
    : exploration_(&exploration),
      runner_(&runner),
      options_(&options),
      strategy_(&strategy),
      summary_(&summary),
      memory_(exploration.first()),
      walk_(memory_, options.seed, options.answeredSum),
      start_(Clock::now()),
      lastReport_(start_) {
  for (unsigned w = runner.workers(); w-- > 0;) idle_.push_back(w);
}

// --- one space ---

Result<void> Search::begin(std::size_t place) {
  SpaceNo s = spaces_[place];
  auto space = exploration_->open(s);
  if (!space) return tl::unexpected(space.error());
  OpenSpace& o = open_[s];
  o.number = s;
  o.place = place;
  o.space = *space;
  o.restrictions = strategy_->count(*o.space);
  if (strategy_->choosesStates()) {
    summary_->statesTried += o.restrictions;
    double states = o.space->log10States();
    if (states > exponent_) {
      top_ *= std::pow(10.0, exponent_ - states);
      exponent_ = states;
    }
    top_ += std::pow(10.0, states - exponent_);
  }
  o.follows = pass_ == Pass::Cheap && place > 0 && spaces_[place - 1] + 1 == s && isAsBefore(o);
  if (!o.follows) proceed(o);
  return {};
}

// As far as restarts have asked by now.
bool Search::isAsBefore(const OpenSpace& s) { return same_ && same_->asBefore(s.space->pointNo()); }

// Restarts have asked more since: what waits for no reason goes its own way.
void Search::proceedWithFollowers() {
  for (auto& [number, s] : open_) {
    if (!s.follows || isAsBefore(s)) continue;
    s.follows = false;
    proceed(s);
  }
}

// The space before it is recorded, so all is known that restarts ask there.
void Search::follow(OpenSpace& s) {
  s.follows = false;
  SpaceNo before(s.number.value() - 1);
  if (last_ != before || !isAsBefore(s)) {
    proceed(s);
    return;
  }
  s.recoveries = exploration_->spaces[before].recoveries;
  s.seen.insert(s.recoveries.begin(), s.recoveries.end());
  for (const RaceKey& key : lastRaces_) ++races_.at(key).spaces;
  s.finished = s.copied = true;
}

// Rounds, one after the other, until one has to wait for runs or nothing is left.
void Search::proceed(OpenSpace& s) {
  while (collect(s), s.collected == s.tasks.size()) {
    endRound(s);
    if (!nextRound(s)) {
      s.finished = true;
      return;
    }
    for (std::size_t i = 0; i < s.tasks.size(); ++i) advance(s, i);
  }
}

void Search::endRound(OpenSpace& s) {
  std::size_t decisions = s.known.decisions.size();
  for (const Task& t : s.tasks) s.known.decisions.insert(t.found.decisions.begin(), t.found.decisions.end());
  for (Task& t : s.tasks) {
    if (t.state.choices != nullptr) s.choices.push_back(t.state.choices);
    if (s.known.decisions.size() > decisions && !t.found.leftOut.empty()) {
      // What was taken for pieces may have been decisions. With what is known now the walk may prefer other ways, and
      // need runs that are not there: it is taken again in the next round.
      s.branches.push_back(std::move(t.begin));
      continue;
    }
    for (WalkState& b : t.found.branches) s.branches.push_back(std::move(b));
    s.leftOut.insert(t.found.leftOut.begin(), t.found.leftOut.end());
    RecoveryNo recovery = t.end.leaf();
    for (RecordRead& r : t.found.records)
      s.tried.push_back({std::move(r), recovery, exploration_->recoveries[recovery].outcome, t.state});
    s.cut.insert(t.found.cut.begin(), t.found.cut.end());
  }
  s.walks += s.tasks.size();
  s.tasks.clear();
  s.collected = 0;
}

bool Search::nextRound(OpenSpace& s) {
  auto begin = [&](WalkState state) {
    s.tasks.emplace_back();
    s.tasks.back().begin = state;
    s.tasks.back().state = std::move(state);
  };
  auto add = [&](Restriction r) {
    WalkState state;
    state.restriction = std::make_shared<Restriction>(std::move(r));
    begin(std::move(state));
  };
  if (s.branches.empty() && s.nextRestriction == s.restrictions) {
    if (tryToDeceive(s)) return true;
    if (refuteRecords(s)) s.nextRestriction = 0;
  }
  if (s.nextRestriction < s.restrictions) {
    std::uint64_t end = std::min(s.restrictions, s.nextRestriction + kRound);
    for (; s.nextRestriction < end; ++s.nextRestriction) add(strategy_->restriction(*s.space, s.nextRestriction));
    return true;
  }
  if (s.branches.empty()) return false;
  if (s.walks + s.branches.size() <= budget_) {
    for (WalkState& state : s.branches) begin(std::move(state));
    s.branches.clear();
    return true;
  }
  (pass_ == Pass::Cheap && budget_ < options_->budget ? s.postponed : s.overBudget) = true;
  s.branches.clear();
  addSome(s);
  return true;
}

// Sums that somebody answers for: a walk for each combination that would deceive a weaker one. True if there are any.
bool Search::tryToDeceive(OpenSpace& s) {
  if (s.overBudget || s.postponed) return false;
  for (const OpenSpace::Tried& t : s.tried) {
    if (t.read.summed.empty() || !s.leftOut.contains(t.read.record)) continue;
    std::vector<std::pair<TrackedNo, std::vector<std::uint32_t>>> lines;
    for (const SummedLine& line : t.read.summed) lines.emplace_back(line.line, line.versions);
    if (!s.searched.emplace(t.read.begins, std::move(lines)).second) continue;
    Restriction r = before(t);
    for (Combination& c : deceivingCombinations(t.read.summed, exploration_->baseline().tracked())) {
      Task task;
      task.begin.restriction = std::make_shared<Restriction>(r);
      task.begin.wanted = std::make_shared<Combination>(std::move(c));
      task.state = task.begin;
      s.tasks.push_back(std::move(task));
    }
  }
  return !s.tasks.empty();
}

// What leads to where a record begins.
Restriction Search::before(const OpenSpace::Tried& tried) {
  Restriction r = *tried.ended.restriction;
  const Choice* c = tried.ended.choices.get();
  while (!(c->startsPieces && c->node == tried.read.begins)) c = c->before.get();
  std::set<TrackedNo> named;
  for (c = c->before.get(); c != nullptr; c = c->before.get()) {
    if (!named.insert(c->line).second) continue;
    if (c->line == kPoolFiles)
      r.files = c->left;
    else
      r = with(std::move(r), c->line, c->left);
  }
  return r;
}

// Whether something that looked like records trusted whole is not to be taken for that: combinations of one, neither
// all of it nor nothing, went on differently; or there are no more of them than the budget allows, nobody answers for a
// sum, and nothing needs to be assumed. It is known from now on, and the space begins anew.
bool Search::refuteRecords(OpenSpace& s) {
  if (s.overBudget || s.postponed) return false;
  std::map<std::pair<RecordKey, NodeNo>, std::pair<std::uint64_t, OutcomeNo>> wentOn;
  std::set<RecordKey> few;
  for (const auto& [read, recovery, outcome, ended] : s.tried) {
    if (read.states <= static_cast<double>(options_->budget)) few.insert(read.record);
    if (read.whole || read.record.reader == RecordReader::Declared || !s.leftOut.contains(read.record)) continue;
    std::pair how(read.next, outcome);
    if (wentOn.try_emplace({read.record, read.begins}, how).first->second != how) s.refuted.insert(read.record);
  }
  if (options_->assumeChecksums) return false;
  for (const RecordKey& key : s.leftOut)
    if (key.reader != RecordReader::Declared && key.reader != RecordReader::Summing && few.contains(key))
      s.refuted.insert(key);
  if (s.refuted.empty()) return false;
  s.known.noRecords.merge(s.refuted);
  s.refuted.clear();
  s.leftOut.clear();
  s.tried.clear();
  s.walks = 0;
  return true;
}

// Too many recoveries for this pass. Of the lines that mattered so far all newest, each alone changed from all oldest
// and from all newest; in the last pass then each pair of them lost, and a sample. All oldest was the first walk.
void Search::addSome(OpenSpace& s) {
  std::set<TrackedNo> lines;
  std::unordered_set<const Choice*> passed;
  for (const auto& last : s.choices)
    for (const Choice* c = last.get(); c != nullptr && passed.insert(c).second; c = c->before.get())
      if (c->line != kPoolFiles) lines.insert(c->line);
  Restriction base = strategy_->restriction(*s.space, 0);
  auto add = [&](Restriction r, Unrestricted unnamed, std::uint64_t seed = 0) {
    r.unnamed = unnamed;
    r.seed = seed;
    Task task;
    task.begin.restriction = std::make_shared<Restriction>(std::move(r));
    task.state = task.begin;
    s.tasks.push_back(std::move(task));
  };
  add(base, Unrestricted::Newest);
  for (TrackedNo w : lines) {
    if (s.tasks.size() >= budget_) break;
    add(with(base, w, {s.space->line(w).newest}), Unrestricted::Least);
    add(with(base, w, {0}), Unrestricted::Newest);
  }
  if (!s.overBudget) return;
  for (auto a = lines.begin(); a != lines.end(); ++a)
    for (auto b = std::next(a); b != lines.end() && s.tasks.size() < budget_; ++b)
      add(with(with(base, *a, {0}), *b, {0}), Unrestricted::Newest);
  for (std::uint64_t i = 0; i < kSamplesOverBudget; ++i)
    add(base, Unrestricted::Sampled, mix(options_->seed, s.space->identity(), i));
}

void Search::advance(OpenSpace& s, std::size_t number) {
  Task& task = s.tasks[number];
  task.end = walk_.advance(exploration_->treeOf(s.number), *s.space, s.known, task.state, task.found);
  if (!task.done()) claim({s.place, s.number, number}, {exploration_->treeNo(s.number), task.state.at});
}

void Search::claim(const Waiter& waiter, EdgeKey edge) {
  Claim& c = claims_[edge];
  if (!c.running) {
    if (!c.waiters.empty()) queue_.erase({*c.waiters.begin(), edge});
    c.waiters.insert(waiter);
    queue_.insert({*c.waiters.begin(), edge});
  } else {
    c.waiters.insert(waiter);
  }
}

// Takes the recoveries of the round's tasks, in their order, as far as they are there.
void Search::collect(OpenSpace& s) {
  for (; s.collected < s.tasks.size() && s.tasks[s.collected].done(); ++s.collected) {
    RecoveryNo recovery = s.tasks[s.collected].end.leaf();
    if (s.seen.insert(recovery).second) s.recoveries.push_back(recovery);
  }
}

// --- all spaces in order ---

// Takes what the space has found into the summary, as far as the bound on runs allows.
void Search::count(OpenSpace& s) {
  countedRecoveries_.resize(exploration_->recoveries.size());
  for (; s.counted < s.recoveries.size(); ++s.counted) {
    RecoveryNo recovery = s.recoveries[s.counted];
    if (countedRecoveries_[recovery]) continue;
    const Recovery& l = exploration_->recoveries[recovery];
    if (!l.loaded) {
      if (options_->maxRuns != 0 && summary_->newRuns == options_->maxRuns) {
        full_ = true;
        return;
      }
      ++summary_->newRuns;
    }
    countedRecoveries_[recovery] = true;
    ++summary_->runs;
    summary_->queries += l.nodes;
    summary_->diverged += l.diverged ? 1 : 0;
    notes_.insert(l.notes.begin(), l.notes.end());
    unseen_.insert(l.unseen.begin(), l.unseen.end());
  }
}

// Counts what the first open space has found, and closes it if it is finished; true if it did.
bool Search::settle() {
  auto it = front_ < spaces_.size() ? open_.find(spaces_[front_]) : open_.end();
  if (it == open_.end()) return false;
  OpenSpace& s = it->second;
  if (s.follows) follow(s);
  collect(s);
  count(s);
  // The next walk in order waits for a run, which would be one too many.
  if (options_->maxRuns != 0 && summary_->newRuns == options_->maxRuns && !s.finished) full_ = true;
  if (full_ || !s.finished) return false;
  record(s);
  memory_.leave();
  open_.erase(it);
  ++front_;
  return true;
}

void Search::record(OpenSpace& s) {
  SpaceInfo& info = exploration_->spaces[s.number];
  info.complete = s.finished && !s.overBudget && !s.postponed && s.cut.empty();
  // What the first pass found counts if the second did not come so far.
  if (!s.finished)
    for (RecoveryNo recovery : info.recoveries)
      if (!s.seen.contains(recovery)) s.recoveries.push_back(recovery);
  info.recoveries = std::move(s.recoveries);
  if (!s.copied) {
    lastRaces_.clear();
    recordRaces(s);
  }
  last_ = info.complete && s.leftOut.empty() ? std::optional(s.number) : std::nullopt;
  if (s.postponed && s.finished) {
    postponed_.push_back(s.number);
    return;
  }
  ++done_;
  summary_->cutLines += s.cut.size();
  if (s.finished) recordAssumptions(s);  // else time was the reason
  if (s.overBudget) recordExplosion(s);
}

void Search::recordAssumptions(const OpenSpace& s) {
  std::map<std::pair<RecordKey, NodeNo>, std::set<std::uint64_t>> combinations;
  for (const OpenSpace::Tried& t : s.tried) combinations[{t.read.record, t.read.begins}].insert(t.read.combination);
  for (const RecordKey& key : s.leftOut) {
    ChecksumAssumption& a = assumptions_[key];
    a.record = key;
    ++a.spaces;
    a.refuted |= s.refuted.contains(key);
    std::set<NodeNo> shown;
    for (const auto& [read, recovery, outcome, ended] : s.tried) {
      if (read.record != key) continue;
      if (!read.whole && shown.insert(read.begins).second) a.examples.push_back({s.number, recovery, read.bytes});
      if (read.states <= a.states) continue;
      a.lines = read.lines;
      a.states = read.states;
      a.tried = combinations.at({key, read.begins}).size();
    }
  }
}

void Search::recordExplosion(const OpenSpace& s) {
  ++summary_->overBudget;
  const RecoveryTree& tree = exploration_->treeOf(s.number);
  std::map<std::uint64_t, std::set<TrackedNo>> lines;  // by the instruction that read them
  std::unordered_set<const Choice*> passed;
  for (const auto& last : s.choices)
    for (const Choice* c = last.get(); c != nullptr && passed.insert(c).second; c = c->before.get())
      if (c->line != kPoolFiles) lines[tree.site(c->node)].insert(c->line);
  for (const auto& [site, read] : lines)
    if (!summary_->explosion || read.size() > summary_->explosion->lines)
      summary_->explosion = {s.number, site, static_cast<std::uint32_t>(read.size()),
                             exploration_->spaces[s.number].recoveries.size()};
}

// Wherever a walk had a choice, the restart read what may be one thing or another.
void Search::recordRaces(const OpenSpace& s) {
  const RecoveryTree& tree = exploration_->treeOf(s.number);
  std::unordered_set<const Choice*> passed;
  std::set<RaceKey> counted;
  for (const auto& last : s.choices)
    for (const Choice* c = last.get(); c != nullptr && passed.insert(c).second; c = c->before.get()) {
      if (c->line == kPoolFiles) continue;
      std::uint64_t site = tree.site(c->node), mask = tree.mask(c->node);
      RaceKey key(site, c->line, mask);
      if (!counted.insert(key).second) continue;
      lastRaces_.insert(key);
      if ((s.postponed || pass_ == Pass::Whole) && !postponedRaces_.emplace(key, s.number).second) continue;
      ++races_.try_emplace(key, RacedRead{site, c->line, mask, s.number, 0}).first->second.spaces;
    }
}

Result<void> Search::dispatch() {
  while (!idle_.empty() && !queue_.empty()) {
    auto [waiter, key] = *queue_.begin();
    // Near the bound only those runs are made that may still come to be within it.
    if (limited()) {
      if (waiter.space != spaces_[front_]) break;
      if (waiter.task >= open_.at(waiter.space).collected + (options_->maxRuns - summary_->newRuns)) break;
    }
    queue_.erase(queue_.begin());
    Claim& c = claims_[key];
    c.running = true;
    OpenSpace& s = open_.at(waiter.space);
    c.request = requestFor(s.number, *s.space, s.tasks[waiter.task].state, level_->traced);
    unsigned worker = idle_.back();
    if (auto ok = batch_->begin(worker, c.request); !ok) return ok;
    idle_.pop_back();
    running_[worker] = key;
  }
  return {};
}

// Waits for one run, adds it, and goes on with the walks that waited for it.
Result<void> Search::finishOne(bool resume) {
  auto ended = batch_->wait();
  if (!ended) return tl::unexpected(ended.error());
  auto& [worker, result] = *ended;
  auto it = running_.find(worker);
  if (it == running_.end()) return fail("a run ended that was not begun", ExitCode::Internal);
  EdgeKey key = it->second;
  running_.erase(it);
  idle_.push_back(worker);
  auto claimed = claims_.extract(key);
  const Claim& c = claimed.mapped();
  std::optional<Divergence> divergence;
  auto recovery = exploration_->add(c.waiters.begin()->space, key.edge, c.request, std::move(result), divergence);
  if (!recovery) return tl::unexpected(recovery.error());
  ++made_;
  // The first in the order of spaces, so that the same one is told however many workers there are.
  if (divergence && (!summary_->divergence || divergence->space < summary_->divergence->space))
    summary_->divergence = divergence;
  if (!resume) return {};
  for (const Waiter& w : c.waiters) {
    OpenSpace& s = open_.at(w.space);
    advance(s, w.task);
    proceed(s);
  }
  return {};
}

Stop Search::bound() const {
  if (full_) return Stop::MaxRuns;
  if (options_->interrupt != nullptr && options_->interrupt->load()) return Stop::Interrupted;
  if (options_->seconds > 0 && std::chrono::duration<double>(Clock::now() - start_).count() >= options_->seconds)
    return Stop::Seconds;
  return Stop::Finished;
}

void Search::report(bool last) {
  if (!options_->progress) return;
  Clock::time_point now = Clock::now();
  if (!last && now - lastReport_ < kReportEvery) return;
  lastReport_ = now;
  Progress p;
  p.level = level_->number;
  p.spacesDone = done_;
  p.spaces = level_->count;
  p.runs = made_;
  p.seconds = std::chrono::duration<double>(now - start_).count();
  p.runsPerSecond = p.seconds > 0 ? static_cast<double>(made_) / p.seconds : 0;
  for (; reportedOutcomes_.value() < exploration_->outcomes.size(); ++reportedOutcomes_)
    p.newOutcomes.push_back(&exploration_->outcomes[reportedOutcomes_]);
  options_->progress(p);
}

Result<Stop> Search::explore(const Level& level) {
  level_ = &level;
  done_ = 0;
  postponed_.clear();
  postponedRaces_.clear();
  std::set<SpaceNo> early;
  Result<Stop> stop = Stop::Finished;
  if (level.number == 1) {
    for (const OneSidedTest& test : options_->oneSided) early.insert(SpaceNo(test.point.value()));
    for (const AdversarialTest& test : options_->first) early.insert(SpaceNo(test.point.value()));
    stop = tryFirst();
  }
  batch_.emplace(*runner_);
  same_.reset();
  last_.reset();
  if (level.number == 1 && level.shared && !strategy_->choosesStates())
    same_.emplace(exploration_->first(), level.trees.front());
  std::vector<SpaceNo> all;
  if (level.number == 1 && (options_->seconds > 0 || options_->maxRuns != 0))
    for (PointNo p : newestFirst(exploration_->baseline())) all.push_back(level.first + p.value());
  else
    for (SpaceNo s = level.first; s < level.first + level.count; ++s) all.push_back(s);
  for (bool first : {true, false}) {
    std::vector<SpaceNo> spaces;
    for (SpaceNo s : all)
      if (early.contains(s) == first) spaces.push_back(s);
    // A strategy that chooses its states has nothing to put off.
    Pass pass = strategy_->choosesStates() ? Pass::Whole : Pass::Cheap;
    if (stop && *stop == Stop::Finished) stop = exploreSpaces(std::move(spaces), pass);
    if (stop && *stop == Stop::Finished) stop = exploreSpaces(std::exchange(postponed_, {}), Pass::Whole);
  }
  batch_.reset();
  if (stop) summarise(level);
  return stop;
}

// One after the other: there are few, and many of them are one restart.
Result<Stop> Search::tryFirst() {
  auto tryOne = [&](PointNo point, const auto& test, std::uint64_t& count, TestStage stage) -> Result<Stop> {
    if (Stop stop = limited() ? Stop::MaxRuns : bound(); stop != Stop::Finished) return stop;
    const SpaceNo s(point.value());
    auto space = exploration_->open(s);
    if (!space) return tl::unexpected(space.error());
    auto restriction = restrictionOf(test, **space);
    if (!restriction) return Stop::Finished;
    ++count;
    auto recovery = recoveryOf(s, std::move(*restriction));
    if (!recovery) {
      if (Stop stop = bound(); stop != Stop::Finished) return stop;
      return tl::unexpected(recovery.error());
    }
    exploration_->tested.push_back({s, *recovery, stage});
    report(false);
    return Stop::Finished;
  };
  for (const OneSidedTest& test : options_->oneSided)
    if (auto stop = tryOne(test.point, test, summary_->oneSidedTests, TestStage::None);
        !stop || *stop != Stop::Finished)
      return stop;
  for (const AdversarialTest& test : options_->first) {
    bool incomplete = test.pattern == TestStage::IncompletelyDurable;
    std::uint64_t& count = incomplete ? summary_->incompleteTests : summary_->unrecoveredTests;
    if (auto stop = tryOne(test.point, test, count, test.pattern); !stop || *stop != Stop::Finished) return stop;
  }
  return Stop::Finished;
}

Result<Stop> Search::exploreSpaces(std::vector<SpaceNo> spaces, Pass pass) {
  pass_ = pass;
  budget_ = pass == Pass::Cheap ? std::min(options_->budget, kCheap) : options_->budget;
  spaces_ = std::move(spaces);
  next_ = front_ = 0;
  Stop stop = Stop::Finished;
  for (;;) {
    // Open as many as the workers can use; what needs no run is closed at once.
    for (bool moved = true; moved && stop == Stop::Finished;) {
      moved = false;
      proceedWithFollowers();
      while (next_ < spaces_.size() && open_.size() < kWindow && queue_.size() < idle_.size() &&
             (!limited() || open_.empty())) {
        if (auto ok = begin(next_++); !ok) return tl::unexpected(ok.error());
        moved = true;
        report(false);
        if (stop = bound(); stop != Stop::Finished) break;
        while (settle()) continue;
      }
      while (settle()) moved = true;
      if (stop == Stop::Finished) stop = bound();
    }
    if (stop != Stop::Finished) break;
    if (auto ok = dispatch(); !ok) return tl::unexpected(ok.error());
    if (running_.empty()) break;
    if (auto ok = finishOne(true); !ok) {
      if (stop = bound(); stop == Stop::Finished) return tl::unexpected(ok.error());
      running_.clear();  // nobody waits for them any more
      break;
    }
    report(false);
  }
  while (!running_.empty())
    if (auto ok = finishOne(false); !ok) {
      if (bound() == Stop::Finished) return tl::unexpected(ok.error());
      running_.clear();
    }
  assert(stop != Stop::Finished || open_.empty());
  // What is known of the spaces that were not finished. Past the bound on runs that is the first one alone: what others
  // have depends on how many workers there are.
  for (auto& [number, s] : open_) {
    if (stop == Stop::MaxRuns && number != spaces_[front_]) continue;
    count(s);
    if (s.counted < s.recoveries.size()) s.finished = false;
    s.recoveries.resize(s.counted);
    record(s);
  }
  memory_.leave();
  open_.clear();
  claims_.clear();
  queue_.clear();
  return stop;
}

void Search::summarise(const Level& level) {
  for (SpaceNo s = level.first; s < level.first + level.count; ++s) {
    const SpaceInfo& info = exploration_->spaces[s];
    summary_->completeSpaces += info.complete ? 1 : 0;
    summary_->completePoints += info.complete && info.level == 1 ? 1 : 0;
    summary_->runsPerSpaceAlone += info.recoveries.size();
    summary_->mostAtOneSpace = std::max<std::uint64_t>(summary_->mostAtOneSpace, info.recoveries.size());
  }
  summary_->walkedQueries = walk_.steps();
  summary_->log10States = top_ == 0 ? 0 : exponent_ + std::log10(top_);
  summary_->assumptions.clear();
  for (const auto& [key, a] : assumptions_) summary_->assumptions.push_back(a);
  summary_->races.clear();
  for (const auto& [key, race] : races_) summary_->races.push_back(race);
  summary_->notes.assign(notes_.begin(), notes_.end());
  summary_->unseen.assign(unseen_.begin(), unseen_.end());
  report(true);
}

// --- one state ---

Run Search::requestFor(SpaceNo s, const CrashSpace& space, const WalkState& state, bool traced) {
  Run request;
  request.pointNo = space.pointNo();
  request.lines = walk_.memoryOf(exploration_->treeOf(s), space, state);
  request.files = space.requestFiles(Walk::filesOf(space, state));
  request.traced = traced;
  return request;
}

Result<Run> Search::request(SpaceNo s, Restriction restriction, bool traced) {
  auto space = exploration_->open(s);
  if (!space) return tl::unexpected(space.error());
  WalkState state;
  state.restriction = std::make_shared<Restriction>(std::move(restriction));
  Run request = requestFor(s, **space, state, traced);
  memory_.leave();
  return request;
}

Result<std::optional<Divergence>> Search::compareWith(SpaceNo s, Restriction restriction, const RunEnd& result) {
  auto space = exploration_->open(s);
  if (!space) return tl::unexpected(space.error());
  WalkState state;
  state.restriction = std::make_shared<Restriction>(std::move(restriction));
  Walk::Found found;
  walk_.advance(exploration_->treeOf(s), **space, {}, state, found);
  memory_.leave();
  return exploration_->compare(s, state.at, result);
}

Result<RecoveryNo> Search::recoveryOf(SpaceNo s, Restriction restriction) {
  auto space = exploration_->open(s);
  if (!space) return tl::unexpected(space.error());
  WalkState state;
  state.restriction = std::make_shared<Restriction>(std::move(restriction));
  Walk::Found found;
  Target end = walk_.advance(exploration_->treeOf(s), **space, {}, state, found);
  if (!end.known()) {
    Run request = requestFor(s, **space, state, exploration_->levelOf(s).traced);
    memory_.leave();
    auto ended = runner_->run(request);
    if (!ended) return tl::unexpected(ended.error());
    ++made_;
    std::optional<Divergence> divergence;
    auto recovery = exploration_->add(s, state.at, request, std::move(*ended), divergence);
    if (!recovery) return recovery;
    if (divergence) {
      ++summary_->diverged;
      if (!summary_->divergence) summary_->divergence = divergence;
    }
    countOne(*recovery);
    return recovery;
  }
  memory_.leave();
  countOne(end.leaf());
  return end.leaf();
}

// A run that was begun for a space past a bound counts when it is asked for, as one that is made then: figures don't
// depend on how many workers there were.
void Search::countOne(RecoveryNo recovery) {
  countedRecoveries_.resize(exploration_->recoveries.size());
  if (countedRecoveries_[recovery]) return;
  countedRecoveries_[recovery] = true;
  ++summary_->runs;
  summary_->newRuns += exploration_->recoveries[recovery].loaded ? 0 : 1;
}

}  // namespace blackout
