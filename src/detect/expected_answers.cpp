#include "detect/expected_answers.h"

#include <algorithm>
#include <optional>

namespace blackout {

ExpectedAnswers::ExpectedAnswers(Explorer& explorer, const Baseline& baseline, OracleJudge& oracle, bool neighbours)
    : explorer_(explorer), baseline_(baseline), oracle_(oracle), neighbours_(neighbours) {
  findOperations();
  const Outcome* first = nullptr;
  for (SpaceNo s = 0; s < explorer_.spaceCount() && oneAnswer_; ++s)
    for (LeafNo leaf : explorer_.space(s).leaves) {
      if (oracle_.verdict(s, leaf).judgement != Judgement::Fine) continue;
      const Outcome& o = explorer_.outcome(explorer_.outcomeNo(leaf));
      if (first == nullptr) first = &o;
      oneAnswer_ &= sameAnswer(*first, o);
    }
}

void ExpectedAnswers::findOperations() {
  const Trace& trace = baseline_.index().trace();
  struct Open {
    unsigned depth = 0;
    std::size_t operation = 0;
  };
  auto find = [&](EventKind begin, EventKind end) {
    std::map<ThreadNo, Open> open;
    for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
      const Event& e = trace[n];
      if (kindOf(e) == begin) {
        Open& o = open[e.thread];
        if (o.depth++ != 0) continue;
        o.operation = operations_.size();
        bool named = begin == EventKind::OpBegin;
        operations_.push_back({n, kNever, named ? std::string(trace.payload(n)) : std::string("the transaction")});
      } else if (kindOf(e) == end) {
        Open& o = open[e.thread];
        if (o.depth > 0 && --o.depth == 0) operations_[o.operation].end = n;
      }
    }
  };
  find(EventKind::OpBegin, EventKind::OpEnd);
  // A transaction is all or nothing too.
  if (operations_.empty()) find(EventKind::TxBegin, EventKind::TxEnd);
}

const ExpectedAnswers::Operation* ExpectedAnswers::underWay(EventNo at, bool& several) const {
  const Operation* found = nullptr;
  for (const Operation& o : operations_) {
    if (o.begin >= at) break;
    if (o.end < at) continue;
    several |= found != nullptr;
    found = &o;
  }
  return found;
}

Result<std::optional<OutcomeNo>> ExpectedAnswers::wholeAt(SpaceNo space, EventNo end) {
  const Index& index = baseline_.index();
  // What was stored since must be lost: each line as it was then.
  Assignment chosen;
  auto stores = index.stores();
  auto row =
      std::lower_bound(stores.begin(), stores.end(), end, [](const StoreRow& r, EventNo at) { return r.event < at; });
  for (; row != stores.end() && row->event < explorer_.space(space).at; ++row) {
    WatchedNo w = baseline_.watched().find(index.lineNo(row->line));
    if (chosen.contains(w)) continue;
    LineBytes then = index.contentOf(row->line, end, {index.historyLength(row->line, end), {}});
    UncertainLine line = explorer_.line(space, w);
    auto version = std::find_if(line.versions.begin(), line.versions.end(),
                                [&](const SpaceVersion& v) { return v.bytes == then; });
    if (version == line.versions.end()) return std::optional<OutcomeNo>();
    chosen[w] = static_cast<std::uint32_t>(version - line.versions.begin());
  }
  auto leaf = explorer_.leafOf(space, chosen, Others::Newest);
  if (!leaf) return tl::unexpected(leaf.error());
  if (oracle_.verdict(space, *leaf).judgement != Judgement::Fine) return std::optional<OutcomeNo>();
  return std::optional(explorer_.outcomeNo(*leaf));
}

Result<bool> ExpectedAnswers::ofOperation(const Operation& operation, ExpectedAnswer& expected) {
  if (operation.end == kNever) return false;
  // What was stored since is still open at the first point behind: only an ordering point makes anything durable.
  auto points = baseline_.points();
  auto before = std::lower_bound(points.begin(), points.end(), operation.begin);
  auto after = std::upper_bound(points.begin(), points.end(), operation.end);
  if (before == points.end()) return false;
  auto first = wholeAt(static_cast<SpaceNo>(before - points.begin()), operation.begin);
  if (!first) return tl::unexpected(first.error());
  EventNo end = operation.end;
  if (after == points.end()) {
    // Nothing new came after the last point, or a crash behind the operation was left out on purpose.
    auto stores = baseline_.index().stores();
    end = *--after;
    if (!stores.empty() && stores.back().event >= end) return false;
  }
  auto last = wholeAt(static_cast<SpaceNo>(after - points.begin()), end);
  if (!last) return tl::unexpected(last.error());
  if (!*first || !*last) return false;
  expected = {ExpectedAnswer::Basis::Operation, **first, **last, **last, operation.name};
  return true;
}

Result<ExpectedAnswer> ExpectedAnswers::at(SpaceNo space) {
  while (explorer_.space(space).level > 1) space = explorer_.space(space).parent;
  auto [known, fresh] = known_.try_emplace(space);
  if (!fresh) return known->second;
  ExpectedAnswer expected;
  EventNo at = explorer_.space(space).at;
  bool several = false;
  const Operation* operation = underWay(at, several);
  if (operation != nullptr && !several) {
    auto found = ofOperation(*operation, expected);
    if (!found) return tl::unexpected(found.error());
  }
  if (expected.basis == ExpectedAnswer::Basis::None && neighbours_) {
    auto now = wholeAt(space, at);
    if (!now) return tl::unexpected(now.error());
    auto before = space == 0 ? wholeAt(space, 0) : wholeAt(space - 1, explorer_.space(space - 1).at);
    if (!before) return tl::unexpected(before.error());
    // Where parts are left out on purpose, a crash before them is none that this one can be compared with.
    auto least = explorer_.leafOf(space, {}, Others::Least);
    if (!least) return tl::unexpected(least.error());
    if (*now && *before) expected = {ExpectedAnswer::Basis::Stretch, **before, **now, explorer_.outcomeNo(*least), {}};
  }
  known_[space] = expected;
  return expected;
}

Result<bool> ExpectedAnswers::allows(SpaceNo space, const Outcome& outcome) {
  auto expected = at(space);
  if (!expected) return tl::unexpected(expected.error());
  return expected->basis == ExpectedAnswer::Basis::None || sameAnswer(outcome, explorer_.outcome(expected->before)) ||
         sameAnswer(outcome, explorer_.outcome(expected->after)) ||
         sameAnswer(outcome, explorer_.outcome(expected->least));
}

}  // namespace blackout
