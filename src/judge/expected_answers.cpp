#include "judge/expected_answers.h"

#include <algorithm>
#include <optional>

#include "events/trace.h"

namespace blackout {

ExpectedAnswers::ExpectedAnswers(Explorer& explorer, const Baseline& baseline, OracleJudge& oracle, bool neighbours)
    : explorer_(explorer), baseline_(baseline), oracle_(oracle), neighbours_(neighbours) {
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

Result<bool> ExpectedAnswers::ofUnit(const Unit& unit, ExpectedAnswer& expected) {
  if (unit.end == kNever) return false;
  // What was stored since is still open at the first point behind: only an ordering point makes anything durable.
  auto points = baseline_.points();
  auto before = std::lower_bound(points.begin(), points.end(), unit.begin);
  auto after = std::upper_bound(points.begin(), points.end(), unit.end);
  if (before == points.end()) return false;
  auto first = wholeAt(static_cast<SpaceNo>(before - points.begin()), unit.begin);
  if (!first) return tl::unexpected(first.error());
  EventNo end = unit.end;
  if (after == points.end()) {
    // Nothing new came after the last point, or a crash behind the operation was left out on purpose.
    auto stores = baseline_.index().stores();
    end = *--after;
    if (!stores.empty() && stores.back().event >= end) return false;
  }
  auto last = wholeAt(static_cast<SpaceNo>(after - points.begin()), end);
  if (!last) return tl::unexpected(last.error());
  if (!*first || !*last) return false;
  expected = {ExpectedAnswer::Basis::Operation, **first, **last, **last, unit.name};
  return true;
}

Result<ExpectedAnswer> ExpectedAnswers::at(SpaceNo space) {
  if (explorer_.space(space).level > 1) return ExpectedAnswer();
  auto [known, fresh] = known_.try_emplace(space);
  if (!fresh) return known->second;
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

Result<bool> ExpectedAnswers::allows(SpaceNo space, const Outcome& outcome, bool stored) {
  auto expected = at(space);
  if (!expected) return tl::unexpected(expected.error());
  if (expected->basis == ExpectedAnswer::Basis::None) return true;
  for (OutcomeNo legal : {expected->before, expected->after, expected->least}) {
    const Outcome& right = explorer_.outcome(legal);
    if (sameAnswer(outcome, right) || (stored && saysMore(outcome, right))) return true;
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
    const Outcome& said = explorer_.outcome(explorer_.outcomeNo(recovery));
    bool stored = (explorer_.used(recovery) & kStored) != 0;
    if (std::none_of(plain.begin(), plain.end(), [&](OutcomeNo o) {
          return sameAnswer(said, explorer_.outcome(o)) || (stored && saysMore(said, explorer_.outcome(o)));
        }))
      return true;
  }
  return false;
}

}  // namespace blackout
