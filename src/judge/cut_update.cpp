#include "judge/cut_update.h"

#include <algorithm>
#include <utility>

#include "events/trace.h"

namespace blackout {

namespace {

// Whether the recovery read what one store wrote before it read the other's bytes.
bool readsBefore(const ExaminedState& s, const StoreRef& a, const StoreRef& b) {
  auto position = [&](const StoreRef& ref) {
    TrackedNo w = s.lineOf(ref);
    std::uint64_t mask = maskOf(s.indexOf(ref), ref.store);
    auto at = std::find_if(s.detail.observations.begin(), s.detail.observations.end(), [&](const Observation& o) {
      return o.query.kind == QueryKind::Bytes && o.query.line() == w && (o.query.mask & mask) != 0;
    });
    return at - s.detail.observations.begin();
  };
  return position(a) < position(b);
}

// Whether a store gives its bytes the value that they had before their last one: a flag that is cleared again.
bool putsBack(const Index& index, const StoreRef& ref) {
  LineId id = index.stores()[ref.store].line;
  auto history = index.history(id);
  std::uint64_t mask = maskOf(index, ref.store);
  auto number =
      static_cast<std::uint32_t>(std::lower_bound(history.begin(), history.end(), ref.store) - history.begin());
  EventNo after = index.stores()[ref.store].event + 1;
  LineBytes now = index.contentOf(id, after, Version{number + 1, {}});
  for (std::uint32_t i = number; i-- > 0;) {
    if ((maskOf(index, history[i]) & mask) == 0) continue;
    LineBytes before = index.contentOf(id, after, Version{i, {}});
    for (unsigned b = 0; b < BLACKOUT_LINE; ++b)
      if ((mask >> b & 1) != 0 && before[b] != now[b]) return false;
    return true;
  }
  return false;
}

bool makesFile(const Index& index, EventNo from, EventNo to) {
  auto changes = index.files().changes();
  return std::any_of(changes.begin(), changes.end(), [&](const FileChange& c) {
    return c.event >= from && c.event < to && c.from == kNever && c.to != kNever;
  });
}

// The stores of a part of the trace that write what the recovery reads; or all of them.
std::vector<StoreRef> storesBetween(const ExaminedState& s, const Index& index, EventNo from, EventNo to,
                                    bool onlyRead) {
  std::vector<StoreRef> out;
  auto stores = index.stores();
  auto row =
      std::lower_bound(stores.begin(), stores.end(), from, [](const StoreRow& r, EventNo at) { return r.event < at; });
  for (; row != stores.end() && row->event < to; ++row) {
    StoreRef ref{s.level(), static_cast<StoreNo>(row - stores.begin())};
    auto read = s.read.find(s.lineOf(ref));
    if (!onlyRead || (read != s.read.end() && (read->second & maskOf(index, ref.store)) != 0)) out.push_back(ref);
  }
  return out;
}

// Whether what a store wrote was replaced before `at`: then there is no "without it".
bool overwritten(const Index& index, const StoreRef& ref, EventNo at) {
  LineId id = index.stores()[ref.store].line;
  for (StoreNo s : index.history(id))
    if (s > ref.store && index.stores()[s].event < at && (maskOf(index, s) & maskOf(index, ref.store)) != 0)
      return true;
  return false;
}

}  // namespace

Result<void> nameCutUpdate(ExaminedState& s, SpaceNo low, SpaceNo high) {
  Cause& cause = s.cause;
  cause.kind = FindingKind::NotAtomic;
  while (low > 0 && s.probe.sameRun(low - 1, low) && s.whole.contains(low - 1)) --low;
  while (high.value() + 1 < s.explorer.spaceCount() && s.probe.sameRun(high, high + 1) && s.whole.contains(high + 1))
    ++high;
  const Index& index = *s.indexes[s.level() - 1];
  bool begins = low > 0 && s.probe.sameRun(low - 1, low);
  bool ends = high.value() + 1 < s.explorer.spaceCount() && s.probe.sameRun(high, high + 1);
  std::vector<StoreRef> begin =
      storesBetween(s, index, begins ? s.explorer.space(low - 1).at : 0, s.explorer.space(low).at, true);
  std::vector<StoreRef> rest =
      storesBetween(s, index, s.explorer.space(high).at, ends ? s.explorer.space(high + 1).at : kNever, true);
  cause.window.emplace(low, high);
  cause.creation = begins && s.level() == 1 && makesFile(index, s.explorer.space(low - 1).at, s.explorer.space(low).at);
  // Of an empty file nothing is read.
  if (rest.empty() && cause.creation && ends)
    rest = storesBetween(s, index, s.explorer.space(high).at, s.explorer.space(high + 1).at, false);
  if (!rest.empty()) cause.second = rest.front();
  // Before the file was there it ends well, and when it is complete.
  if (cause.creation && ends) cause.cure = CureKind::Rename;
  if (begin.empty() || cause.creation) return {};
  cause.first = begin.back();
  std::size_t tries = 0;
  for (std::size_t i = begin.size(); i-- > 0 && ++tries <= s.options.candidates;) {
    auto judged = s.probe.without(low, s.wholeAt(low), begin[i]);
    if (!judged) return tl::unexpected(judged.error());
    if (*judged != Judgement::Fine) continue;
    cause.first = begin[i];
    cause.tested = true;
    break;
  }
  if (!cause.tested && !(cause.second && s.overlap(*cause.first, *cause.second))) {
    // A restart that fails at the first of them has not read the others.
    std::vector<StoreRef> all =
        storesBetween(s, index, begins ? s.explorer.space(low - 1).at : 0, s.explorer.space(low).at, false);
    auto judged = s.probe.without(low, s.wholeAt(low), all);
    if (!judged) return tl::unexpected(judged.error());
    if (all.size() > 1 && *judged == Judgement::Fine) {
      cause.first = begin.front();
      for (const StoreRef& ref : all) cause.begun.insert(siteKey(index.trace(), index.trace()[s.eventOf(ref)]));
      if (ends) cause.cure = CureKind::Atomic;
      return {};
    }
  }
  // A value and the next one of the same bytes are no update that could be made at once: the restart does not cope
  // with the value.
  cause.sameBytes = cause.second && s.overlap(*cause.first, *cause.second);
  // If the restart had changed something by then, what it changed is wrong.
  if (cause.sameBytes && cause.tested && (s.explorer.used(cause.recovery) & kStored) != 0)
    cause.kind = FindingKind::RecoveryFails;
  // Without the first store it ends well, and with all of it too.
  if (cause.tested && ends && !cause.sameBytes) cause.cure = CureKind::Atomic;
  if (!cause.tested || !ends || !cause.second || overwritten(index, *cause.first, s.explorer.space(high + 1).at))
    return {};
  // Could it have waited for the next store, and for all the rest?
  auto next = s.probe.without(high, s.wholeAt(high), *cause.first, cause.second);
  if (!next) return tl::unexpected(next.error());
  if (*next != Judgement::Fine) return {};
  auto waits = s.probe.without(high + 1, s.wholeAt(high + 1), *cause.first);
  if (!waits) return tl::unexpected(waits.error());
  if (*waits != Judgement::Fine) return {};
  // It leads to the rest, or spoils what the old state of the rest still leads to: either way it comes too early. But
  // what puts its bytes back ends what protects the update: to come first makes no sense for it. (Of a restart it is
  // not known what they were.)
  cause.canWait = !readsBefore(s, *cause.first, *cause.second) && (s.level() > 1 || putsBack(index, *cause.second));
  if (cause.canWait) return {};
  cause.cure = CureKind::Order;
  std::swap(cause.first, cause.second);
  cause.kind = FindingKind::WrongOrder;
  cause.late = true;
  return {};
}

}  // namespace blackout
