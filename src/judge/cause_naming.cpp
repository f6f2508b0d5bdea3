#include "judge/cause_naming.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <set>
#include <tuple>
#include <utility>

#include "detect/by_site.h"
#include "events/trace.h"
#include "judge/answer_judge.h"
#include "judge/lost_store.h"
#include "judge/order_judge.h"

namespace blackout {

namespace {

class Naming {
 public:
  Naming(StateProbe& probe, CureTrial& trial, const WholeFailures& whole, const NamingOptions& options)
      : probe_(probe), trial_(trial), explorer_(probe.explorer()), whole_(whole), options_(options) {}

  Result<Cause> run(SpaceNo space, RecoveryNo recovery, const ChosenVersions& chosen) {
    cause_.space = space;
    cause_.chosen = chosen;
    cause_.recovery = recovery;
    cause_.key = probe_.verdict(space, recovery).key;
    auto indexes = probe_.indexes(space);
    if (!indexes) return tl::unexpected(indexes.error());
    indexes_ = std::move(*indexes);
    if (auto ok = lookAtState(); !ok) return tl::unexpected(ok.error());
    if (auto pointer = stalePointer()) {
      cause_.kind = FindingKind::StalePointer;
      cause_.first = pointer;
      cause_.read = firstRead(*pointer);
      return std::move(cause_);
    }
    if (auto ok = minimise(); !ok) return tl::unexpected(ok.error());
    if (auto ok = lookAtState(); !ok) return tl::unexpected(ok.error());
    auto named = probe_.isWhole(space, cause_.lost) ? nameWindow(space, space) : nameLost();
    if (!named) return tl::unexpected(named.error());
    if (auto ok = tryAdd(); !ok) return tl::unexpected(ok.error());
    return std::move(cause_);
  }

 private:
  unsigned level() const { return explorer_.space(cause_.space).level; }
  const Index& indexOf(const StoreRef& ref) const { return *indexes_[ref.level - 1]; }
  EventNo eventOf(const StoreRef& ref) const { return indexOf(ref).stores()[ref.store].event; }

  // What the present state loses, and what its restart reads.
  Result<void> lookAtState() {
    auto lost = probe_.lostStores(cause_.space, cause_.chosen);
    if (!lost) return tl::unexpected(lost.error());
    cause_.lost = std::move(*lost);
    detail_ = explorer_.detail(cause_.space, cause_.recovery);
    read_.clear();
    for (const Observation& o : detail_.observations)
      if (o.query.kind == QueryKind::Bytes) read_[o.query.line()] |= o.query.mask;
    return {};
  }

  // --- a pointer of the earlier process ---

  // The restart faulted at, or shortly behind, an address that the run before the crash had stored and that it read:
  // one in no pool, so it was good in that process only.
  std::optional<StoreRef> stalePointer() const {
    const Outcome& outcome = explorer_.outcome(detail_.outcome);
    constexpr std::uint64_t kObject = 4096;
    if (outcome.ending != Ending::Signalled || (outcome.code != SIGSEGV && outcome.code != SIGBUS)) return std::nullopt;
    for (const StoreRef& ref : survivors()) {
      const Event& e = indexOf(ref).trace()[eventOf(ref)];
      if (bytesOf(e) == sizeof e.value && outcome.faultAddress >= e.value && outcome.faultAddress - e.value < kObject &&
          isVolatileAddress(indexOf(ref).trace(), e.value))
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
    TrackedNo w = probe_.tracked().find(lineOf(indexOf(ref).trace()[eventOf(ref)].addr));
    for (std::size_t i = 0; i < detail_.observations.size(); ++i) {
      const Query& q = detail_.observations[i].query;
      if (q.kind == QueryKind::Bytes && q.line() == w && (q.mask & maskOf(indexOf(ref), ref.store)) != 0) return i;
    }
    return std::nullopt;
  }

  // --- the smallest state ---

  Result<void> minimise() {
    std::size_t tries = 0;
    for (bool changed = true; changed && tries < options_.triesPerState;) {
      changed = false;
      std::vector<TrackedNo> lowered;
      for (const auto& [w, version] : cause_.chosen.versions) lowered.push_back(w);
      for (TrackedNo w : lowered) {
        auto now = cause_.chosen.versions.find(w);
        if (now == cause_.chosen.versions.end()) continue;
        std::uint32_t newest = probe_.crashSpace(cause_.space).line(w).newest;
        auto count = static_cast<std::uint32_t>(probe_.crashSpace(cause_.space).line(w).versions.size());
        std::vector<std::uint32_t> candidates{newest};
        for (std::uint32_t v = count; v-- > now->second + 1;)
          if (v != newest) candidates.push_back(v);
        for (std::uint32_t v : candidates) {
          if (++tries > options_.triesPerState) break;
          ChosenVersions next = cause_.chosen;
          if (v == newest)
            next.versions.erase(w);
          else
            next.versions[w] = v;
          auto recovery = probe_.recoveryOf(cause_.space, next);
          if (!recovery) return tl::unexpected(recovery.error());
          if (!probe_.fails(cause_.space, *recovery, cause_.key)) continue;
          cause_.recovery = *recovery;
          cause_.chosen = probe_.largest(cause_.space, *recovery);
          changed = true;
          break;
        }
      }
    }
    return {};
  }

  // --- a store is lost ---

  Result<void> nameLost() {
    cause_.first = firstThatMatters();
    cause_.read = readOf(readAtFault());
    auto relation = findRelated();
    if (!relation) return tl::unexpected(relation.error());
    if (cause_.second) {
      // One store that fills several lines, of which some are there.
      if (torn()) return nameTorn();
      bool ordered = *relation == Relation::Order;
      // Stored after what leads to it, it need not be lost for that: it is one update, which is cut in two.
      if (ordered && *cause_.second < *cause_.first && level() == 1) {
        if (auto window = cutElsewhere()) {
          cause_.first.reset();
          cause_.second.reset();
          cause_.others.clear();
          cause_.tested = false;
          return nameWindow(*window, *window);
        }
      }
      if (ordered && *cause_.second < *cause_.first) return nameLate();
      if (ordered) return nameOrder();
      return nameTogether();
    }
    cause_.second = settledSurvivor();
    if (!cause_.second) cause_.promised = operationEnd();
    if (cause_.second || cause_.promised) return nameOrder();
    auto [before, after] = around(*cause_.first);
    if (after) {
      // No single store relies on it. If the same update fails with nothing lost too, order is not its problem.
      if (auto ok = nameOrder(); !ok) return ok;
      if (cause_.kind != FindingKind::MissingFlush && cutElsewhere()) {
        cause_.kind = FindingKind::NotAtomic;
        cause_.second = after;
        uncured();
      }
      return {};
    }
    // Nothing that it read was stored later: a crash before the lost store leaves the same, with nothing lost. If
    // such a crash fails at the point before this one, that is the update which is cut in two.
    if (cause_.space > 0 && probe_.sameRun(cause_.space - 1, cause_.space) && whole_.contains(cause_.space - 1)) {
      cause_.first.reset();
      return nameWindow(cause_.space - 1, cause_.space - 1);
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
      const Index& index = indexOf(ref);
      TrackedNo w = probe_.tracked().find(index.lineNo(index.stores()[ref.store].line));
      if ((missedBytes(w) & maskOf(index, ref.store)) != 0) return ref;
    }
    return *any;
  }
  // The bytes of a line that the restart read and that are not what everything persisted would leave.
  std::uint64_t missedBytes(TrackedNo w) {
    auto chosen = cause_.chosen.versions.find(w);
    if (chosen == cause_.chosen.versions.end()) return 0;
    const UncertainLine& l = probe_.crashSpace(cause_.space).line(w);
    std::uint64_t read = read_[w], missed = 0;
    for (unsigned b = 0; b < BLACKOUT_LINE; ++b)
      if ((read >> b & 1) != 0 && l.versions[chosen->second].bytes[b] != l.versions[l.newest].bytes[b])
        missed |= std::uint64_t{1} << b;
    return missed;
  }

  // --- neither without the other ---

  Result<void> nameTogether() {
    cause_.kind = FindingKind::NotAtomic;
    if (cause_.others.empty()) {
      auto mirror = mirrorFails(*cause_.second);
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

  // Whether all stores that make up the cause are one execution of one instruction: nothing but itself comes in
  // between.
  bool torn() const {
    std::vector<StoreRef> all = cause_.others;
    all.push_back(*cause_.first);
    all.push_back(*cause_.second);
    return oneExecution(all);
  }
  bool oneExecution(const std::vector<StoreRef>& all) const {
    auto [low, high] = std::minmax_element(all.begin(), all.end());
    if (low->level != high->level) return false;
    const Index& index = indexOf(*low);
    const Trace& trace = index.trace();
    StackId where = stackOf(trace[eventOf(*low)]);
    std::vector<StoreNo> pieces = piecesOf(index, low->store);
    if (pieces.back() >= high->store) return true;
    if (where == 0) return false;
    for (EventNo n = eventOf(*low); n <= eventOf(*high); n = trace.next(n))
      if (groupOf(trace[n]) != EventGroup::Load && (!isStore(trace[n]) || stackOf(trace[n]) != where)) return false;
    return true;
  }
  Result<void> nameTorn() {
    cause_.kind = FindingKind::NotAtomic;
    std::vector<StoreRef> all = cause_.others;
    all.push_back(*cause_.first);
    all.push_back(*cause_.second);
    auto [low, high] = std::minmax_element(all.begin(), all.end());
    const Index& index = indexOf(*low);
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
    auto recovery = probe_.recoveryOf(cause_.space, wholeAt(cause_.space));
    if (!recovery) return tl::unexpected(recovery.error());
    if (!probe_.fails(cause_.space, *recovery)) cause_.cure = CureKind::Atomic;
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
    if (level() != 1 || !cause_.first || cause_.first->level != 1 || !cause_.tested) return {};
    const Index& index = *indexes_[0];
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
    if (in->end < explorer_.space(cause_.space).at) {
      if (cause_.applied != nullptr) cause_.cure = CureKind::Add;
      return {};
    }
    Cause::NotAdded what{*in, piecesOf(index, cause_.first->store)};
    std::vector<StoreRef> made = madeUnlogged(index, what, explorer_.space(cause_.space).at);
    if (made.empty()) return {};
    auto gone = fine(cause_.chosen, made, std::nullopt);
    if (!gone) return tl::unexpected(gone.error());
    if (*gone) {
      cause_.cure = CureKind::Add;
      cause_.notAdded = std::move(what);
    }
    return {};
  }

  // Puts the flush or the fence into the trace and looks whether the state can still come about.
  Result<void> tryFlush() {
    const Index& index = indexOf(*cause_.first);
    if (cause_.first->level != level()) return {};
    Cure cure;
    cure.flush = cause_.kind != FindingKind::MissingFence;
    EventNo at = !cure.flush && cause_.flush ? *cause_.flush : eventOf(*cause_.first);
    auto add = [&](std::set<SiteKey>& to, EventNo n) {
      SiteKey key = siteKey(index.trace(), index.trace()[n]);
      if (key.known) to.insert(key);
      return key.known;
    };
    if (!add(cure.after, at)) cure.event = at;
    if (cause_.second && cause_.second->level == cause_.first->level) add(cure.before, eventOf(*cause_.second));
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
    if (cause_.space == 0 || !probe_.sameRun(cause_.space - 1, cause_.space)) return false;
    auto before = probe_.recoveryOf(cause_.space - 1, wholeAt(cause_.space - 1));
    if (!before) return tl::unexpected(before.error());
    return *before == cause_.recovery && !probe_.fails(cause_.space - 1, *before);
  }

  TrackedNo readAtFault() const {
    return probe_.tracked().find(lineOf(indexOf(*cause_.first).trace()[eventOf(*cause_.first)].addr));
  }

  // `second` relies on `first`: what was done, or not, to make `first` durable before.
  Result<void> nameOrder() {
    const Index& index = indexOf(*cause_.first);
    EventNo relied = probe_.crashOf(cause_.space, cause_.first->level);
    if (cause_.second && cause_.second->level == cause_.first->level)
      relied = eventOf(*cause_.second);
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
  std::optional<std::size_t> readOf(TrackedNo readAtFault) {
    auto chosen = cause_.chosen.versions.find(readAtFault);
    if (chosen == cause_.chosen.versions.end()) return std::nullopt;
    const UncertainLine& l = probe_.crashSpace(cause_.space).line(readAtFault);
    // Of the lost store's own bytes, if they are what was missed.
    std::uint64_t own = missedBytes(readAtFault) & maskOf(indexOf(*cause_.first), cause_.first->store);
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < detail_.observations.size(); ++i) {
      const Query& q = detail_.observations[i].query;
      if (q.kind != QueryKind::Bytes || q.line() != readAtFault) continue;
      if (!first) first = i;
      if (own != 0 && (q.mask & own) == 0) continue;
      for (unsigned b = 0; b < BLACKOUT_LINE; ++b)
        if ((q.mask >> b & 1) != 0 && l.versions[chosen->second].bytes[b] != l.versions[l.newest].bytes[b]) return i;
    }
    return first;
  }

  // --- what relies on it ---

  bool isLost(const StoreRef& ref) const { return std::binary_search(cause_.lost.begin(), cause_.lost.end(), ref); }

  // For every 8 bytes that the recovery read, the store that they came from, if it is of the crash's own run.
  std::set<StoreRef> survivors() const {
    std::set<StoreRef> found;
    const Index& index = *indexes_[level() - 1];
    EventNo at = explorer_.space(cause_.space).at;
    for (const auto& [w, read] : read_) {
      LineId id = index.lineId(probe_.tracked().line(w));
      if (id == kNoLine) continue;
      auto history = index.history(id).first(index.historyLength(id, at));
      std::uint64_t left = read;
      for (std::size_t i = history.size(); i-- > 0 && left != 0;) {
        StoreRef ref{level(), history[i]};
        std::uint64_t mask = maskOf(index, ref.store);
        if (isLost(ref) || (mask & left) == 0) continue;
        found.insert(ref);
        left &= ~mask;
      }
    }
    return found;
  }

  // When the recovery read what a store wrote: how long before it met the lost bytes, or how long after.
  std::pair<bool, std::size_t> readDistance(const StoreRef& ref) const {
    TrackedNo w = probe_.tracked().find(lineOf(indexOf(ref).trace()[eventOf(ref)].addr));
    std::uint64_t mask = maskOf(indexOf(ref), ref.store);
    std::size_t met = cause_.read.value_or(detail_.observations.size());
    auto reads = [&](std::size_t i) {
      const Query& q = detail_.observations[i].query;
      return q.kind == QueryKind::Bytes && q.line() == w && (q.mask & mask) != 0;
    };
    for (std::size_t i = met; i-- > 0;)
      if (reads(i)) return {false, met - i};
    for (std::size_t i = met; i < detail_.observations.size(); ++i)
      if (reads(i)) return {true, i - met};
    return {true, detail_.observations.size()};
  }

  // The stores that may rely on the lost one, the likeliest first: those that came later, by how directly they led the
  // recovery to the lost bytes; then those before it, the nearest first, of the same operation.
  std::vector<StoreRef> candidates() const {
    const StoreRef lost = *cause_.first;
    std::vector<std::tuple<bool, std::pair<bool, std::size_t>, StoreRef>> ordered;
    constexpr std::uint32_t kNear = 64;  // stores, where operations are not marked
    const Operation* operation = indexOf(lost).operationOf(eventOf(lost));
    for (const StoreRef& ref : survivors()) {
      if (ref > lost) {
        ordered.emplace_back(false, readDistance(ref), ref);
      } else if (livedWithout(ref, lost)) {
        continue;
      } else if (operation != nullptr ? eventOf(ref) > operation->begin : lost.store - ref.store <= kNear) {
        ordered.emplace_back(true, std::pair(false, std::size_t{lost.store - ref.store}), ref);
      }
    }
    std::sort(ordered.begin(), ordered.end());
    std::vector<StoreRef> out;
    for (const auto& row : ordered) out.push_back(std::get<StoreRef>(row));
    if (out.size() > options_.candidates) out.resize(options_.candidates);
    return out;
  }

  // Whether crashes between the two, with everything persisted, end well, and something else was made durable in
  // between: then the earlier one does not rely on the other. Where the program says how far it is in a pool, what says
  // that the pool is there is such a store. (Answers are judged only where something races, so there that a crash ends
  // well says little.)
  bool livedWithout(const StoreRef& earlier, const StoreRef& lost) const {
    // In a restart that is cut short, a crash before it had changed anything ends well, whatever is wrong with it.
    if (level() > 1 || cause_.key == AnswerJudge::wrongAnswer(ExpectedAnswer::Basis::Operation).key) return false;
    unsigned fineInBetween = 0;
    for (SpaceNo s = cause_.space; s > 0 && probe_.sameRun(s - 1, cause_.space);) {
      --s;
      EventNo at = explorer_.space(s).at;
      if (at <= eventOf(earlier)) return false;
      if (at <= eventOf(lost) && !whole_.contains(s) && (++fineInBetween > 1 || unpaired(earlier, lost))) return true;
    }
    return false;
  }
  // Whether the lost store's instruction is executed once more, in another stretch between fences, and the other one is
  // not: what relies on a store comes with it each time.
  bool unpaired(const StoreRef& earlier, const StoreRef& lost) const {
    const Trace& trace = indexOf(lost).trace();
    const Event& stored = trace[eventOf(lost)];
    SiteKey own = siteKey(trace, stored), other = siteKey(trace, trace[eventOf(earlier)]);
    if (!own.known || !other.known || own == other) return false;
    bool fenced = false;
    for (EventNo n = trace.next(eventOf(lost)); n < trace.end(); n = trace.next(n)) {
      const Event& e = trace[n];
      fenced |= groupOf(e) == EventGroup::Fence && threadOf(e) == threadOf(stored);
      if (!isStore(e)) continue;
      SiteKey site = siteKey(trace, e);
      if (site == other) return false;
      if (fenced && site == own) return true;
    }
    return false;
  }

  enum class Relation : std::uint8_t {
    None,      // nothing is known to lead there
    Order,     // `second` (and `others`) rely on the lost store
    Together,  // neither can be without the other
  };
  // Sets `second`, and `others` if it takes several stores to lead there.
  Result<Relation> findRelated() {
    if (cause_.first->level != level()) return Relation::None;
    std::vector<StoreRef> all = candidates();
    std::optional<StoreRef> pair;
    for (const StoreRef& ref : all) {
      auto gone = fine(cause_.chosen, std::span(&ref, 1), std::nullopt);
      if (!gone) return tl::unexpected(gone.error());
      if (!*gone) continue;
      if (!pair) pair = ref;
      // Its own other parts can't wait for it.
      if (oneExecution({ref, *cause_.first})) continue;
      auto waits = canWait(std::span(&ref, 1));
      if (!waits) return tl::unexpected(waits.error());
      if (!*waits) continue;
      cause_.second = ref;
      cause_.tested = true;
      return Relation::Order;
    }
    if (pair) {
      cause_.second = pair;
      cause_.tested = true;
      return Relation::Together;
    }
    return findSeveral(std::move(all));
  }

  // It takes several: as few as possible, of those that came later if that is enough.
  Result<Relation> findSeveral(std::vector<StoreRef> all) {
    std::vector<StoreRef> later;
    for (const StoreRef& ref : all)
      if (ref > *cause_.first) later.push_back(ref);
    std::vector<StoreRef> needed;
    for (std::vector<StoreRef>* set : {&later, &all}) {
      if (set->size() < 2) continue;
      auto gone = fine(cause_.chosen, *set, std::nullopt);
      if (!gone) return tl::unexpected(gone.error());
      if (!*gone) continue;
      needed = std::move(*set);
      break;
    }
    if (needed.empty()) return Relation::None;
    // The likeliest come first and stay longest.
    for (std::size_t i = needed.size(); i-- > 0 && needed.size() > 2;) {
      std::vector<StoreRef> fewer = needed;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      auto gone = fine(cause_.chosen, fewer, std::nullopt);
      if (!gone) return tl::unexpected(gone.error());
      if (*gone) needed = std::move(fewer);
    }
    auto waits = canWait(needed);
    if (!waits) return tl::unexpected(waits.error());
    cause_.second = needed.front();
    cause_.others.assign(needed.begin() + 1, needed.end());
    cause_.tested = true;
    if (*waits) cause_.others.clear();
    return *waits ? Relation::Order : Relation::Together;
  }

  Result<bool> fine(const ChosenVersions& state, std::span<const StoreRef> removed,
                    const std::optional<StoreRef>& with) {
    auto judged = probe_.without(cause_.space, state, removed, with);
    if (!judged) return tl::unexpected(judged.error());
    return *judged == Judgement::Fine;
  }

  // Whether it ends well with the lost store and without these: so they can wait for it.
  Result<bool> canWait(std::span<const StoreRef> stores) {
    // A store to the same bytes is the next step, and no order of the two makes sense.
    for (const StoreRef& ref : stores)
      if (overlap(ref, *cause_.first)) return false;
    auto next = fine(cause_.chosen, stores, cause_.first);
    if (!next || !*next) return next;
    ChosenVersions repaired = cause_.chosen;
    repaired.versions.erase(readAtFault());
    return fine(repaired, stores, std::nullopt);
  }

  bool overlap(const StoreRef& a, const StoreRef& b) const {
    const Index& index = indexOf(a);
    return a.level == b.level && index.stores()[a.store].line == index.stores()[b.store].line &&
           (maskOf(index, a.store) & maskOf(index, b.store)) != 0;
  }

  // Whether a crash may leave the lost store without the other one, and fails then too.
  Result<bool> mirrorFails(const StoreRef& other) {
    const Index& index = indexOf(other);
    LineId id = index.stores()[other.store].line;
    TrackedNo w = probe_.tracked().find(index.lineNo(id));
    if (w == readAtFault()) return false;
    auto history = index.history(id);
    auto number =
        static_cast<std::uint32_t>(std::lower_bound(history.begin(), history.end(), other.store) - history.begin());
    const UncertainLine& l = probe_.crashSpace(cause_.space).line(w);
    std::optional<std::uint32_t> without;
    for (std::uint32_t v = 0; v < l.versions.size(); ++v)
      if (!l.versions[v].version.contains(number)) without = v;
    if (!without) return false;
    ChosenVersions mirror = cause_.chosen;
    mirror.versions.erase(readAtFault());
    mirror.versions[w] = *without;
    auto recovery = probe_.recoveryOf(cause_.space, mirror);
    if (!recovery) return tl::unexpected(recovery.error());
    return probe_.fails(cause_.space, *recovery);
  }

  // If no test told: the store after the lost one that the recovery read last before it met that.
  std::optional<StoreRef> settledSurvivor() {
    for (std::size_t i = cause_.read.value_or(0); i-- > 0;) {
      const Observation& o = detail_.observations[i];
      if (o.query.kind != QueryKind::Bytes || o.classes > 1) continue;
      std::vector<StoreRef> from = explorer_.mayReadFrom(cause_.space, cause_.recovery, i);
      auto latest = std::max_element(from.begin(), from.end());
      if (latest == from.end() || latest->store == kNoStore || latest->level != cause_.first->level) continue;
      if (*latest > *cause_.first) return *latest;
    }
    return std::nullopt;
  }

  // A crash in the same operation, or in a restart as well, that fails with nothing lost.
  std::optional<SpaceNo> cutElsewhere() const {
    const Operation* operation = level() == 1 ? indexes_[0]->operationOf(eventOf(*cause_.first)) : nullptr;
    for (const auto& [space, key] : whole_) {
      const SpaceInfo& info = explorer_.space(space);
      if (info.level == level() && (operation == nullptr || (info.at > operation->begin && info.at <= operation->end)))
        return space;
    }
    return std::nullopt;
  }

  // Where the operation that made the lost store ended, if the recovery knew that it had, or is judged by that.
  std::optional<EventNo> operationEnd() const {
    if (cause_.first->level != 1) return std::nullopt;
    bool asked = dependsOnOperations(cause_.key) ||
                 std::any_of(detail_.observations.begin(), detail_.observations.end(),
                             [](const Observation& o) { return o.query.kind == QueryKind::Op; });
    if (!asked) return std::nullopt;
    const Operation* operation = indexes_[0]->operationOf(eventOf(*cause_.first));
    if (operation == nullptr || operation->end >= probe_.crashOf(cause_.space, 1)) return std::nullopt;
    return operation->end;
  }

  // Of the surviving stores that the recovery read, the last one before a store and the first one after it.
  std::pair<std::optional<StoreRef>, std::optional<StoreRef>> around(const StoreRef& store) const {
    std::set<StoreRef> all = survivors();
    auto at = all.lower_bound(store);
    auto before = at == all.begin() ? std::nullopt : std::optional(*std::prev(at));
    return {before, at == all.end() ? std::nullopt : std::optional(*at)};
  }

  // --- nothing is lost ---

  // With everything persisted it fails at these neighbouring points: a crash there cuts an update in two. It begins
  // with a store between the last point that is fine and the first that is not, and goes on with the first store after
  // the last of them; of what the recovery reads, that is.
  Result<void> nameWindow(SpaceNo low, SpaceNo high) {
    cause_.kind = FindingKind::NotAtomic;
    while (low > 0 && probe_.sameRun(low - 1, low) && whole_.contains(low - 1)) --low;
    while (high.value() + 1 < explorer_.spaceCount() && probe_.sameRun(high, high + 1) && whole_.contains(high + 1))
      ++high;
    const Index& index = *indexes_[level() - 1];
    bool begins = low > 0 && probe_.sameRun(low - 1, low);
    bool ends = high.value() + 1 < explorer_.spaceCount() && probe_.sameRun(high, high + 1);
    std::vector<StoreRef> begin = storesRead(index, begins ? explorer_.space(low - 1).at : 0, explorer_.space(low).at);
    std::vector<StoreRef> rest =
        storesRead(index, explorer_.space(high).at, ends ? explorer_.space(high + 1).at : index.trace().end());
    cause_.window.emplace(low, high);
    cause_.creation = begins && level() == 1 && makesFile(index, explorer_.space(low - 1).at, explorer_.space(low).at);
    // Of an empty file nothing is read.
    if (rest.empty() && cause_.creation && ends)
      rest = storesBetween(index, explorer_.space(high).at, explorer_.space(high + 1).at, false);
    if (!rest.empty()) cause_.second = rest.front();
    // Before the file was there it ends well, and when it is complete.
    if (cause_.creation && ends) cause_.cure = CureKind::Rename;
    if (begin.empty() || cause_.creation) return {};
    cause_.first = begin.back();
    std::size_t tries = 0;
    for (std::size_t i = begin.size(); i-- > 0 && ++tries <= options_.candidates;) {
      auto judged = probe_.without(low, wholeAt(low), begin[i]);
      if (!judged) return tl::unexpected(judged.error());
      if (*judged != Judgement::Fine) continue;
      cause_.first = begin[i];
      cause_.tested = true;
      break;
    }
    // A value and the next one of the same bytes are no update that could be made at once: the restart does not cope
    // with the value.
    cause_.sameBytes = cause_.second && overlap(*cause_.first, *cause_.second);
    // If the restart had changed something by then, what it changed is wrong.
    if (cause_.sameBytes && cause_.tested && (explorer_.used(cause_.recovery) & kStored) != 0)
      cause_.kind = FindingKind::RecoveryFails;
    // Without the first store it ends well, and with all of it too.
    if (cause_.tested && ends && !cause_.sameBytes) cause_.cure = CureKind::Atomic;
    if (!cause_.tested || !ends || !cause_.second || overwritten(index, *cause_.first, explorer_.space(high + 1).at))
      return {};
    // Could it have waited for the next store, and for all the rest?
    auto next = probe_.without(high, wholeAt(high), *cause_.first, cause_.second);
    if (!next) return tl::unexpected(next.error());
    if (*next != Judgement::Fine) return {};
    auto waits = probe_.without(high + 1, wholeAt(high + 1), *cause_.first);
    if (!waits) return tl::unexpected(waits.error());
    if (*waits != Judgement::Fine) return {};
    // It leads to the rest, or spoils what the old state of the rest still leads to: either way it comes too early. But
    // what puts its bytes back ends what protects the update: to come first makes no sense for it. (Of a restart it is
    // not known what they were.)
    if (!readsBefore(*cause_.first, *cause_.second) && (level() > 1 || putsBack(index, *cause_.second))) return {};
    cause_.cure = CureKind::Order;
    std::swap(cause_.first, cause_.second);
    cause_.kind = FindingKind::WrongOrder;
    cause_.late = true;
    return {};
  }

  // Whether the recovery read what one store wrote before it read the other's bytes.
  bool readsBefore(const StoreRef& a, const StoreRef& b) const {
    auto position = [&](const StoreRef& ref) {
      TrackedNo w = probe_.tracked().find(lineOf(indexOf(ref).trace()[eventOf(ref)].addr));
      std::uint64_t mask = maskOf(indexOf(ref), ref.store);
      auto at = std::find_if(detail_.observations.begin(), detail_.observations.end(), [&](const Observation& o) {
        return o.query.kind == QueryKind::Bytes && o.query.line() == w && (o.query.mask & mask) != 0;
      });
      return at - detail_.observations.begin();
    };
    return position(a) < position(b);
  }

  // Whether a store gives its bytes the value that they had before their last one: a flag that is cleared again.
  static bool putsBack(const Index& index, const StoreRef& ref) {
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

  static bool makesFile(const Index& index, EventNo from, EventNo to) {
    auto changes = index.files().changes();
    return std::any_of(changes.begin(), changes.end(), [&](const FileChange& c) {
      return c.event >= from && c.event < to && c.from == kNever && c.to != kNever;
    });
  }

  ChosenVersions wholeAt(SpaceNo space) { return probe_.wholeAt(space, cause_.space, cause_.chosen); }

  // The stores of a part of the trace that write what the recovery reads; or all of them.
  std::vector<StoreRef> storesRead(const Index& index, EventNo from, EventNo to) const {
    return storesBetween(index, from, to, true);
  }
  std::vector<StoreRef> storesBetween(const Index& index, EventNo from, EventNo to, bool onlyRead) const {
    std::vector<StoreRef> out;
    auto stores = index.stores();
    auto row = std::lower_bound(stores.begin(), stores.end(), from,
                                [](const StoreRow& r, EventNo at) { return r.event < at; });
    for (; row != stores.end() && row->event < to; ++row) {
      auto s = static_cast<StoreNo>(row - stores.begin());
      auto read = read_.find(probe_.tracked().find(index.lineNo(row->line)));
      if (!onlyRead || (read != read_.end() && (read->second & maskOf(index, s)) != 0)) out.push_back({level(), s});
    }
    return out;
  }

  // Whether what a store wrote was replaced before `at`: then there is no "without it".
  static bool overwritten(const Index& index, const StoreRef& ref, EventNo at) {
    LineId id = index.stores()[ref.store].line;
    for (StoreNo s : index.history(id))
      if (s > ref.store && index.stores()[s].event < at && (maskOf(index, s) & maskOf(index, ref.store)) != 0)
        return true;
    return false;
  }

  StateProbe& probe_;
  CureTrial& trial_;
  Explorer& explorer_;
  const WholeFailures& whole_;
  const NamingOptions& options_;
  Cause cause_;
  std::vector<const Index*> indexes_;
  RecoveryDetail detail_;
  std::map<TrackedNo, std::uint64_t> read_;  // which bytes of each line the recovery read
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
