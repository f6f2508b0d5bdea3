#include "judge/cause_naming.h"

#include <algorithm>
#include <csignal>
#include <set>
#include <utility>

#include "detect/by_site.h"
#include "events/trace.h"
#include "judge/cut_update.h"
#include "judge/examined_state.h"
#include "judge/lost_store.h"
#include "judge/reliance.h"

namespace blackout {

namespace {

class Naming {
 public:
  Naming(StateProbe& probe, CureTrial& trial, const WholeFailures& whole, const NamingOptions& options)
      : s_(probe, whole, options), trial_(trial) {}

  Result<Cause> run(SpaceNo space, RecoveryNo recovery, const ChosenVersions& chosen) {
    if (auto ok = s_.become(space, recovery, chosen); !ok) return tl::unexpected(ok.error());
    if (auto pointer = stalePointer()) {
      cause_.kind = FindingKind::StalePointer;
      cause_.first = pointer;
      cause_.read = firstRead(*pointer);
      return std::move(cause_);
    }
    if (auto ok = s_.makeSmall(); !ok) return tl::unexpected(ok.error());
    if (auto ok = s_.look(); !ok) return tl::unexpected(ok.error());
    auto named = s_.probe.isWhole(space, cause_.lost) ? nameCutUpdate(s_, space, space) : nameLost();
    if (!named) return tl::unexpected(named.error());
    if (auto ok = tryAdd(); !ok) return tl::unexpected(ok.error());
    return std::move(cause_);
  }

 private:
  // --- a pointer of the earlier process ---

  // The restart faulted at, or shortly behind, an address that the run before the crash had stored and that it read:
  // one in no pool, so it was good in that process only.
  std::optional<StoreRef> stalePointer() const {
    const Outcome& outcome = s_.explorer.outcome(s_.detail.outcome);
    constexpr std::uint64_t kObject = 4096;
    if (outcome.ending != Ending::Signalled || (outcome.code != SIGSEGV && outcome.code != SIGBUS)) return std::nullopt;
    for (const StoreRef& ref : s_.survivors()) {
      const Event& e = s_.indexOf(ref).trace()[s_.eventOf(ref)];
      if (bytesOf(e) == sizeof e.value && outcome.faultAddress >= e.value && outcome.faultAddress - e.value < kObject &&
          isVolatileAddress(s_.indexOf(ref).trace(), e.value))
        return ref;
    }
    return std::nullopt;
  }
  // Numbers and offsets are small; what is large and in no pool can only be an address elsewhere.
  static bool isVolatileAddress(const Trace& trace, std::uint64_t value) {
    constexpr unsigned kSmallBits = 32, kAddressBits = 47;
    if (value >> kSmallBits == 0 || value >> kAddressBits != 0) return false;
    for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
      if (kindOf(trace[n]) != EventKind::Map) continue;
      auto [address, size] = trace.mapping(n);
      if (value - address < size) return false;
    }
    return true;
  }
  std::optional<std::size_t> firstRead(const StoreRef& ref) const {
    TrackedNo w = s_.lineOf(ref);
    for (std::size_t i = 0; i < s_.detail.observations.size(); ++i) {
      const Query& q = s_.detail.observations[i].query;
      if (q.kind == QueryKind::Bytes && q.line() == w && (q.mask & maskOf(s_.indexOf(ref), ref.store)) != 0) return i;
    }
    return std::nullopt;
  }

  // --- a store is lost ---

  Result<void> nameLost() {
    cause_.first = firstThatMatters();
    cause_.read = readOfLost();
    auto relation = relies_.findRelated();
    if (!relation) return tl::unexpected(relation.error());
    if (cause_.second) {
      // One store that fills several lines, of which some are there.
      if (torn()) return nameTorn();
      bool ordered = *relation == Reliance::Relation::Order;
      // Stored after what leads to it, it need not be lost for that: it is one update, which is cut in two.
      if (ordered && *cause_.second < *cause_.first && s_.level() == 1) {
        if (auto window = relies_.cutElsewhere()) {
          cause_.first.reset();
          cause_.second.reset();
          cause_.others.clear();
          cause_.tested = false;
          return nameCutUpdate(s_, *window, *window);
        }
      }
      if (ordered && *cause_.second < *cause_.first) return nameLate();
      if (ordered) return nameOrder();
      return nameTogether();
    }
    cause_.second = relies_.settledSurvivor();
    if (!cause_.second) cause_.promised = relies_.operationEnd();
    if (cause_.second || cause_.promised) return nameOrder();
    auto [before, after] = relies_.around(*cause_.first);
    if (after) {
      // No single store relies on it. If the same update fails with nothing lost too, order is not its problem.
      if (auto ok = nameOrder(); !ok) return ok;
      if (cause_.kind != FindingKind::MissingFlush && relies_.cutElsewhere()) {
        cause_.kind = FindingKind::NotAtomic;
        cause_.second = after;
        uncured();
      }
      return {};
    }
    // Nothing that it read was stored later: a crash before the lost store leaves the same, with nothing lost. If
    // such a crash fails at the point before this one, that is the update which is cut in two.
    if (cause_.space > 0 && s_.probe.sameRun(cause_.space - 1, cause_.space) && s_.whole.contains(cause_.space - 1)) {
      cause_.first.reset();
      return nameCutUpdate(s_, cause_.space - 1, cause_.space - 1);
    }
    // If it is right there, the loss alone is wrong.
    auto rightBefore = isRightBefore();
    if (!rightBefore) return tl::unexpected(rightBefore.error());
    if (*rightBefore) return nameOrder();
    cause_.kind = FindingKind::NotAtomic;
    cause_.second = std::exchange(cause_.first, before);
    return {};
  }

  // Every line that is left is needed for the failure. The store that was lost first stands for them, of those whose
  // bytes the restart read and found to be others; and of the last crash: what an earlier one lost has its own
  // findings.
  StoreRef firstThatMatters() {
    std::optional<StoreRef> any;
    for (const StoreRef& ref : cause_.lost) {
      if (ref.level != cause_.lost.back().level) continue;
      if (!any) any = ref;
      if ((s_.missedBytes(s_.lineOf(ref)) & maskOf(s_.indexOf(ref), ref.store)) != 0) return ref;
    }
    return *any;
  }

  // --- neither without the other ---

  Result<void> nameTogether() {
    cause_.kind = FindingKind::NotAtomic;
    if (cause_.others.empty()) {
      auto mirror = relies_.mirrorFails(*cause_.second);
      if (!mirror) return tl::unexpected(mirror.error());
      cause_.eitherWay = *mirror;
    }
    // In the order in which they are made.
    std::vector<StoreRef> all = cause_.others;
    all.push_back(*cause_.first);
    all.push_back(*cause_.second);
    std::sort(all.begin(), all.end());
    cause_.first = all[0];
    cause_.second = all[1];
    cause_.others.assign(all.begin() + 2, all.end());
    return tryAtomic();
  }

  // Whether all stores that make up the cause are one execution of one instruction.
  bool torn() const {
    std::vector<StoreRef> all = cause_.others;
    all.push_back(*cause_.first);
    all.push_back(*cause_.second);
    return relies_.oneExecution(all);
  }
  Result<void> nameTorn() {
    cause_.kind = FindingKind::NotAtomic;
    std::vector<StoreRef> all = cause_.others;
    all.push_back(*cause_.first);
    all.push_back(*cause_.second);
    auto [low, high] = std::minmax_element(all.begin(), all.end());
    const Index& index = s_.indexOf(*low);
    // All lines of the execution, also those that are not in question.
    std::set<LineId> lines;
    auto stores = index.stores();
    std::vector<StoreNo> pieces = piecesOf(index, low->store);
    StoreNo from = pieces.front(), to = std::max(pieces.back(), piecesOf(index, high->store).back());
    for (StoreNo s = from; s <= to; ++s) lines.insert(stores[s].line);
    cause_.lines = static_cast<unsigned>(lines.size());
    cause_.first = StoreRef{low->level, from};
    cause_.second.reset();
    cause_.others.clear();
    return tryAtomic();
  }

  // All or nothing: without the stores that are there it ends well, which was tested; and with all of it?
  Result<void> tryAtomic() {
    if (!cause_.tested) return {};
    auto recovery = s_.probe.recoveryOf(cause_.space, s_.wholeAt(cause_.space));
    if (!recovery) return tl::unexpected(recovery.error());
    if (!s_.probe.fails(cause_.space, *recovery)) cause_.cure = CureKind::Atomic;
    return {};
  }

  // --- cures ---

  void uncured() {
    cause_.cure.reset();
    cause_.applied.reset();
  }

  // What relies on it was stored before it: no flush helps, the two change places.
  Result<void> nameLate() {
    cause_.kind = FindingKind::WrongOrder;
    cause_.late = true;
    if (cause_.tested) cause_.cure = CureKind::Order;
    return {};
  }

  // Stored in a transaction that had not logged these bytes. Added, they would be put back after a crash in it, and be
  // durable after its end.
  Result<void> tryAdd() {
    if (s_.level() != 1 || !cause_.first || cause_.first->level != 1 || !cause_.tested) return {};
    const Index& index = *s_.indexes[0];
    auto in = unloggedStore(index, cause_.first->store);
    // The commit would have to come first, which makes no sense: what is missing is in the log.
    if (!in && cause_.late && cause_.second) {
      in = unloggedStore(index, cause_.second->store);
      if (!in) return {};
      std::swap(cause_.first, cause_.second);
      cause_.kind = FindingKind::NotAtomic;
      cause_.late = false;
      cause_.cure = CureKind::Atomic;
    }
    if (!in) return {};
    if (in->end < s_.explorer.space(cause_.space).at) {
      if (cause_.applied != nullptr) cause_.cure = CureKind::Add;
      return {};
    }
    Cause::NotAdded what{*in, piecesOf(index, cause_.first->store)};
    std::vector<StoreRef> made = madeUnlogged(index, what, s_.explorer.space(cause_.space).at);
    if (made.empty()) return {};
    auto gone = s_.fine(cause_.chosen, made, std::nullopt);
    if (!gone) return tl::unexpected(gone.error());
    if (*gone) {
      cause_.cure = CureKind::Add;
      cause_.notAdded = std::move(what);
    }
    return {};
  }

  // Puts the flush or the fence into the trace and looks whether the state can still come about.
  Result<void> tryFlush() {
    const Index& index = s_.indexOf(*cause_.first);
    if (cause_.first->level != s_.level()) return {};
    Cure cure;
    cure.flush = cause_.kind != FindingKind::MissingFence;
    EventNo at = !cure.flush && cause_.flush ? *cause_.flush : s_.eventOf(*cause_.first);
    auto add = [&](std::set<SiteKey>& to, EventNo n) {
      SiteKey key = siteKey(index.trace(), index.trace()[n]);
      if (key.known) to.insert(key);
      return key.known;
    };
    if (!add(cure.after, at)) cure.event = at;
    if (cause_.second && cause_.second->level == cause_.first->level) add(cure.before, s_.eventOf(*cause_.second));
    cure.atOperationEnd = cause_.promised.has_value();
    auto applied = trial_.apply(cure, cause_.space);
    if (!applied) return tl::unexpected(applied.error());
    if (trial_.leaves(**applied, cause_.space, cause_.recovery).value_or(true)) return {};
    cause_.applied = *applied;
    cause_.cure = cause_.kind == FindingKind::MissingFlush   ? CureKind::Flush
                  : cause_.kind == FindingKind::MissingFence ? CureKind::Fence
                                                             : CureKind::Earlier;
    return {};
  }

  // Whether the very same recovery is right at the point before, with nothing lost.
  Result<bool> isRightBefore() {
    if (cause_.space == 0 || !s_.probe.sameRun(cause_.space - 1, cause_.space)) return false;
    auto before = s_.probe.recoveryOf(cause_.space - 1, s_.wholeAt(cause_.space - 1));
    if (!before) return tl::unexpected(before.error());
    return *before == cause_.recovery && !s_.probe.fails(cause_.space - 1, *before);
  }

  // `second` relies on `first`: what was done, or not, to make `first` durable before.
  Result<void> nameOrder() {
    const Index& index = s_.indexOf(*cause_.first);
    EventNo relied = s_.probe.crashOf(cause_.space, cause_.first->level);
    if (cause_.second && cause_.second->level == cause_.first->level)
      relied = s_.eventOf(*cause_.second);
    else if (cause_.promised)
      relied = *cause_.promised;
    LostStore why = whyLost(index, cause_.first->store, relied);
    cause_.kind = why.kind;
    cause_.flush = why.flush;
    cause_.everFlushed = why.everFlushed;
    cause_.everFenced = why.everFenced;
    return tryFlush();
  }

  // The observation that told the lost line from a persisted one.
  std::optional<std::size_t> readOfLost() {
    TrackedNo line = s_.lostLine();
    const UncertainLine& l = s_.probe.crashSpace(cause_.space).line(line);
    const LineBytes& left = l.versions[cause_.chosen.versions.at(line)].bytes;
    // Of the lost store's own bytes, if they are what was missed.
    std::uint64_t own = s_.missedBytes(line) & maskOf(s_.indexOf(*cause_.first), cause_.first->store);
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < s_.detail.observations.size(); ++i) {
      const Query& q = s_.detail.observations[i].query;
      if (q.kind != QueryKind::Bytes || q.line() != line) continue;
      if (!first) first = i;
      if (own != 0 && (q.mask & own) == 0) continue;
      for (unsigned b = 0; b < BLACKOUT_LINE; ++b)
        if ((q.mask >> b & 1) != 0 && left[b] != l.versions[l.newest].bytes[b]) return i;
    }
    return first;
  }

  ExaminedState s_;
  Cause& cause_ = s_.cause;
  Reliance relies_{s_};
  CureTrial& trial_;
};

}  // namespace

std::vector<StoreRef> madeUnlogged(const Index& index, const Cause::NotAdded& what, EventNo crash) {
  std::vector<StoreRef> made;
  for (StoreNo piece : what.stores)
    for (StoreNo s : index.history(index.stores()[piece].line)) {
      EventNo n = index.stores()[s].event;
      if (n > what.in.begin && n < crash && (maskOf(index, s) & maskOf(index, piece)) != 0) made.push_back({1, s});
    }
  return made;
}

Result<Cause> nameCause(StateProbe& probe, CureTrial& trial, const WholeFailures& whole, SpaceNo space,
                        RecoveryNo recovery, const ChosenVersions& chosen, const NamingOptions& options) {
  return Naming(probe, trial, whole, options).run(space, recovery, chosen);
}

}  // namespace blackout
