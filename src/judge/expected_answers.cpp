#include "judge/expected_answers.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "events/trace.h"

namespace blackout {

ExpectedAnswers::ExpectedAnswers(StateProbe& probe, const Baseline& baseline, OracleJudge& oracle, bool neighbours,
                                 const Outcome* final, Patience patience)
    : probe_(probe),
      explorer_(probe.explorer()),
      baseline_(baseline),
      oracle_(oracle),
      neighbours_(neighbours),
      patience_(std::move(patience)),
      final_(final) {
  for (const Operation& o : baseline_.index().operations().all())
    units_.push_back({o.begin, o.end, std::string(o.name), {o.thread, 0}});
  if (units_.empty()) findTransactions();
  const Outcome* first = nullptr;
  for (SpaceNo s = 0; s.value() < explorer_.spaceCount() && oneAnswer_; ++s)
    for (RecoveryNo recovery : explorer_.space(s).recoveries) {
      if (oracle_.verdict(s, recovery).judgement != Judgement::Fine) continue;
      const Outcome& o = explorer_.outcome(explorer_.outcomeNo(recovery));
      if (first == nullptr) first = &o;
      oneAnswer_ &= sameAnswer(*first, o);
    }
}

// A transaction is all or nothing too, and one inside another is part of it.
void ExpectedAnswers::findTransactions() {
  const Trace& trace = baseline_.index().trace();
  struct Open {
    unsigned depth = 0;
    std::size_t unit = 0;
  };
  std::map<Owner, Open> open;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    if (kindOf(e) != EventKind::TxBegin && kindOf(e) != EventKind::TxEnd) continue;
    Owner owner{e.addr == 0 ? threadOf(e) : ThreadNo{0}, e.addr};
    Open& o = open[owner];
    if (kindOf(e) == EventKind::TxBegin) {
      if (o.depth++ != 0) continue;
      o.unit = units_.size();
      units_.push_back({n, kNever, "the transaction", owner});
    } else if (o.depth > 0 && --o.depth == 0) {
      units_[o.unit].end = n;
    }
  }
}

const ExpectedAnswers::Unit* ExpectedAnswers::underWay(EventNo at) const {
  const Unit* found = nullptr;
  for (const Unit& o : units_) {
    if (o.begin >= at) break;
    if (o.end < at) continue;
    found = &o;
  }
  return found;
}

bool ExpectedAnswers::alone(const Unit& unit) const {
  for (const Unit& o : units_)
    if (o.owner != unit.owner && o.begin < unit.end && unit.begin < o.end) return false;
  const Trace& trace = baseline_.index().trace();
  auto stores = baseline_.index().stores();
  auto row = std::lower_bound(stores.begin(), stores.end(), unit.begin,
                              [](const StoreRow& r, EventNo at) { return r.event < at; });
  for (; row != stores.end() && row->event < unit.end; ++row)
    if (unit.owner.first != 0 && threadOf(trace[row->event]) != unit.owner.first) return false;
  return true;
}

// Whether all that a crash there may lose was stored by one thread. What several did has no common all or nothing.
bool ExpectedAnswers::ofOneThread(SpaceNo space) const {
  const Index& index = baseline_.index();
  EventNo at = explorer_.space(space).at;
  std::optional<ThreadNo> thread;
  std::shared_ptr<const CrashSpace> crash = explorer_.crashSpace(space);
  for (TrackedNo w : crash->uncertain()) {
    LineId id = index.lineId(baseline_.tracked().line(w));
    if (id == kNoLine) continue;
    for (const LineStore& s : index.openStores(id, at, 0, index.historyLength(id, at))) {
      ThreadNo by = threadOf(index.trace()[index.stores()[s.store].event]);
      if (thread && *thread != by) return false;
      thread = by;
    }
  }
  return true;
}

Result<std::optional<OutcomeNo>> ExpectedAnswers::wholeAt(SpaceNo space, EventNo end) {
  const Index& index = baseline_.index();
  // What was stored since must be lost: each line as it was then.
  ChosenVersions chosen(UnnamedLines::Newest);
  std::shared_ptr<const CrashSpace> crash = explorer_.crashSpace(space);
  auto stores = index.stores();
  auto row =
      std::lower_bound(stores.begin(), stores.end(), end, [](const StoreRow& r, EventNo at) { return r.event < at; });
  for (; row != stores.end() && row->event < explorer_.space(space).at; ++row) {
    TrackedNo w = baseline_.tracked().find(index.lineNo(row->line));
    if (chosen.versions.contains(w)) continue;
    LineBytes then = index.contentOf(row->line, end, {index.historyLength(row->line, end), {}});
    const UncertainLine& line = crash->line(w);
    auto version = std::find_if(line.versions.begin(), line.versions.end(),
                                [&](const SpaceVersion& v) { return v.bytes == then; });
    if (version == line.versions.end()) return std::optional<OutcomeNo>();
    chosen.versions[w] = static_cast<std::uint32_t>(version - line.versions.begin());
  }
  auto recovery = explorer_.recoveryOf(space, chosen);
  if (!recovery) return tl::unexpected(recovery.error());
  if (oracle_.verdict(space, *recovery).judgement != Judgement::Fine) return std::optional<OutcomeNo>();
  return std::optional(explorer_.outcomeNo(*recovery));
}

Result<void> ExpectedAnswers::ofUnit(const Unit& unit, ExpectedAnswer& expected) {
  if (unit.end == kNever) return {};
  // What was stored since is still open at the first point behind: only an ordering point makes anything durable.
  auto points = baseline_.points();
  auto before = std::lower_bound(points.begin(), points.end(), unit.begin);
  auto after = std::upper_bound(points.begin(), points.end(), unit.end);
  if (before == points.end()) return {};
  auto first = wholeAt(static_cast<SpaceNo>(before - points.begin()), unit.begin);
  if (!first) return tl::unexpected(first.error());
  EventNo end = unit.end;
  if (after == points.end()) {
    // Nothing new came after the last point, or a crash behind the operation was left out on purpose.
    auto stores = baseline_.index().stores();
    end = *--after;
    if (!stores.empty() && stores.back().event >= end) return {};
  }
  auto last = wholeAt(static_cast<SpaceNo>(after - points.begin()), end);
  if (!last) return tl::unexpected(last.error());
  if (*first && *last) expected = {ExpectedAnswer::Basis::Operation, **first, **last, **last, unit.name};
  return {};
}

Result<ExpectedAnswer> ExpectedAnswers::at(SpaceNo space) {
  if (explorer_.space(space).level > 1) return ExpectedAnswer();
  auto [known, fresh] = known_.try_emplace(space);
  if (!fresh) return known->second;
  Stop stop = explorer_.summary().stop;
  if ((stop == Stop::Seconds || stop == Stop::Interrupted) && !explorer_.space(space).complete) return ExpectedAnswer();
  if (patience_.over()) return ExpectedAnswer();
  ExpectedAnswer expected;
  EventNo at = explorer_.space(space).at;
  const Unit* unit = underWay(at);
  if (unit != nullptr && alone(*unit)) {
    auto found = ofUnit(*unit, expected);
    if (!found) return tl::unexpected(found.error());
  }
  if (expected.basis == ExpectedAnswer::Basis::None && neighbours_ && ofOneThread(space)) {
    auto now = wholeAt(space, at);
    if (!now) return tl::unexpected(now.error());
    auto before = space == 0 ? wholeAt(space, 0) : wholeAt(space - 1, explorer_.space(space - 1).at);
    if (!before) return tl::unexpected(before.error());
    // Where parts are left out on purpose, a crash before them is none that this one can be compared with.
    auto least = explorer_.recoveryOf(space, ChosenVersions(UnnamedLines::Least));
    if (!least) return tl::unexpected(least.error());
    if (*now && *before) expected = {ExpectedAnswer::Basis::Stretch, **before, **now, explorer_.outcomeNo(*least), {}};
  }
  known_[space] = expected;
  return expected;
}

// What a recovery may say if all that it lost belongs to operations that had ended: the same as with nothing lost.
std::optional<ExpectedAnswer> ExpectedAnswers::afterEnded(SpaceNo space, RecoveryNo recovery) {
  auto lost = probe_.lostStores(space, probe_.largest(space, recovery));
  if (!lost || lost->empty()) return std::nullopt;
  const Index& index = baseline_.index();
  EventNo at = explorer_.space(space).at;
  const Unit* ended = nullptr;
  for (const StoreRef& ref : *lost) {
    EventNo stored = index.stores()[ref.store].event;
    ThreadNo thread = threadOf(index.trace()[stored]);
    auto promised = std::find_if(units_.begin(), units_.end(), [&](const Unit& u) {
      return u.owner.first == thread && u.begin < stored && stored < u.end && u.end < at;
    });
    if (promised == units_.end()) return std::nullopt;
    ended = &*promised;
  }
  auto whole = explorer_.recoveryOf(space, ChosenVersions(UnnamedLines::Newest));
  if (!whole || oracle_.verdict(space, *whole).judgement != Judgement::Fine) return std::nullopt;
  OutcomeNo right = explorer_.outcomeNo(*whole);
  return ExpectedAnswer{ExpectedAnswer::Basis::Ended, right, right, right, ended->name};
}

bool ExpectedAnswers::losesPromised(SpaceNo space, const ChosenVersions& chosen, TrackedNo line, std::uint64_t mask) {
  auto lost = explorer_.space(space).level > 1 ? Result<std::vector<StoreRef>>() : probe_.lostStores(space, chosen);
  if (!lost) return false;
  const Index& index = baseline_.index();
  EventNo at = explorer_.space(space).at;
  auto contentAt = [&](LineId id, EventNo n) { return index.contentOf(id, n, {index.historyLength(id, n), {}}); };
  for (const StoreRef& ref : *lost) {
    const StoreRow& row = index.stores()[ref.store];
    std::uint64_t stored = maskOf(index, ref.store) & mask;
    if (stored == 0 || index.lineNo(row.line) != baseline_.tracked().line(line)) continue;
    ThreadNo thread = threadOf(index.trace()[row.event]);
    for (const Unit& u : units_) {
      if (u.owner.first != thread || row.event < u.begin || u.end < row.event || u.end >= at) continue;
      LineBytes before = contentAt(row.line, u.begin), after = contentAt(row.line, u.end);
      for (unsigned byte = 0; byte < BLACKOUT_LINE; ++byte)
        if ((stored >> byte & 1) != 0 && before[byte] != after[byte]) return true;
    }
  }
  return false;
}

ExpectedAnswer ExpectedAnswers::of(SpaceNo space, RecoveryNo recovery) {
  auto expected = at(space);
  if (!expected) return {};
  if (expected->basis == ExpectedAnswer::Basis::Operation || explorer_.space(space).level > 1) return *expected;
  auto [byEnded, fresh] = byEnded_.try_emplace(space);
  if (fresh) {
    const Unit* unit = underWay(explorer_.space(space).at);
    byEnded->second = unit == nullptr ? marked() : !alone(*unit);
  }
  return byEnded->second ? afterEnded(space, recovery).value_or(*expected) : *expected;
}

bool ExpectedAnswers::compared(SpaceNo space) {
  if (!explorer_.space(space).complete) return false;
  if (oneAnswer_) return true;
  auto expected = at(space);
  return expected && expected->basis != ExpectedAnswer::Basis::None;
}

bool ExpectedAnswers::severalThreads() const {
  struct Life {
    EventNo begin = 0;
    EventNo end = kNever;
    std::size_t batch = SIZE_MAX;
  };
  // Threads that one thread creates with nothing else in between are there together, however fast the first of them is.
  struct Batch {
    EventNo begin = 0;
    EventNo end = 0;
  };
  const Trace& trace = baseline_.index().trace();
  std::map<ThreadNo, Life> lives;
  std::vector<Batch> batches;
  std::deque<std::size_t> created;       // batches of threads that have not begun yet
  std::map<ThreadNo, std::size_t> open;  // by creator: the batch that may go on
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    ThreadNo thread = threadOf(e);
    auto [life, fresh] = lives.try_emplace(thread);
    if (fresh) {
      life->second.begin = n;
      if (!created.empty()) {
        life->second.batch = created.front();
        created.pop_front();
      }
    }
    if (kindOf(e) == EventKind::ThreadCreate) {
      auto [batch, begins] = open.try_emplace(thread, batches.size());
      if (begins) batches.push_back({n, 0});
      created.push_back(batch->second);
      continue;
    }
    open.erase(thread);
    if (kindOf(e) == EventKind::ThreadEnd) life->second.end = n;
  }
  for (const auto& [thread, life] : lives)
    if (life.batch != SIZE_MAX) batches[life.batch].end = std::max(batches[life.batch].end, life.end);
  for (auto& [thread, life] : lives)
    if (life.batch != SIZE_MAX) life.begin = batches[life.batch].begin, life.end = batches[life.batch].end;
  // Each of the two must store while the other is there: a thread that waits for those that it has created does not.
  std::set<std::pair<ThreadNo, ThreadNo>> during;
  for (const StoreRow& row : baseline_.index().stores()) {
    ThreadNo thread = threadOf(trace[row.event]);
    for (const auto& [other, life] : lives)
      if (other != thread && life.begin < row.event && row.event < life.end) during.emplace(thread, other);
  }
  return std::any_of(during.begin(), during.end(),
                     [&](const auto& pair) { return during.contains({pair.second, pair.first}); });
}

const AnswerLines& ExpectedAnswers::lines() {
  if (lines_) return *lines_;
  lines_.emplace();
  using Right = AnswerLines::Right;
  std::set<OutcomeNo> quiet;  // of restarts that had nothing to recover
  for (SpaceNo s : idRange<SpaceNo>(explorer_.spaceCount()))
    for (RecoveryNo recovery : explorer_.space(s).recoveries)
      if ((explorer_.used(recovery) & kStored) == 0) quiet.insert(explorer_.outcomeNo(recovery));
  for (SpaceNo s : idRange<SpaceNo>(explorer_.spaceCount())) {
    if (explorer_.space(s).level > 1 || !explorer_.space(s).complete) continue;
    auto expected = at(s);
    if (!expected) break;
    bool operation = expected->basis == ExpectedAnswer::Basis::Operation;
    if (expected->basis != ExpectedAnswer::Basis::None)
      for (OutcomeNo right : {expected->before, expected->after})
        lines_->add(explorer_.outcome(right).output, operation || quiet.contains(right) ? Right::Settled : Right::Any);
  }
  if (final_ != nullptr) lines_->add(final_->output, Right::Final);
  return *lines_;
}

bool ExpectedAnswers::same(const Outcome& answer, const Outcome& right, bool ownWords) {
  return sameButOutput(answer, right) &&
         (answer.output == right.output || lines().same(answer.output, right.output, ownWords));
}

bool ExpectedAnswers::allows(const ExpectedAnswer& expected, const Outcome& outcome, bool ownWords) {
  if (expected.basis == ExpectedAnswer::Basis::None) return true;
  for (OutcomeNo legal : {expected.before, expected.after, expected.least}) {
    // A copy: to know what answers look like may take another run.
    Outcome right = explorer_.outcome(legal);
    if (same(outcome, right, ownWords)) return true;
  }
  return false;
}

Result<bool> ExpectedAnswers::unjudged(SpaceNo space) {
  auto expected = at(space);
  if (!expected) return tl::unexpected(expected.error());
  if (expected->basis != ExpectedAnswer::Basis::None) return false;
  if (explorer_.space(space).level == 1 && ofOneThread(space)) return false;
  std::vector<OutcomeNo> plain;
  for (UnnamedLines all : {UnnamedLines::Least, UnnamedLines::Newest}) {
    auto recovery = explorer_.recoveryOf(space, ChosenVersions(all));
    if (!recovery) return tl::unexpected(recovery.error());
    plain.push_back(explorer_.outcomeNo(*recovery));
  }
  for (RecoveryNo recovery : explorer_.space(space).recoveries) {
    if (oracle_.verdict(space, recovery).judgement != Judgement::Fine) continue;
    Outcome said = explorer_.outcome(explorer_.outcomeNo(recovery));
    bool stored = (explorer_.used(recovery) & kStored) != 0;
    if (std::none_of(plain.begin(), plain.end(),
                     [&](OutcomeNo o) { return same(said, Outcome(explorer_.outcome(o)), stored); }))
      return true;
  }
  return false;
}

}  // namespace blackout
