// Undo and redo journals (Silhouette, 3.1). A transaction begins with its first entry (or the space for it) and ends
// when the log is empty again: the head has caught up with the tail, the tail is back, the flag is cleared. Everything
// is judged then, when all entries are there to be read.
//
//   allocate  the tail, moved before entries are written (preallocated)
//   log       stores to the area
//   commit    what makes entries count: the tail, moved after they are written, or a commit field
//   in place  stores to what entries are about
//   reclaim   what makes the log empty
//   record    the entry that ends its transaction (undo), or makes its entries count (redo)
//
// Where entries have the number of their transaction, several are open at once; they are told apart when space is
// given back, and each is judged by itself.
#include <algorithm>
#include <map>
#include <set>

#include "events/trace.h"
#include "mechanisms/tracker.h"

namespace blackout {

namespace {

using Phase = MechanismPhase;
using Rule = MechanismRule;

constexpr std::size_t kMostEntries = 1 << 20;
constexpr std::uint64_t kLargestTarget = std::uint64_t{1} << 24;

struct JournalState {
  std::optional<PmRange> area;
  std::optional<PmAddr> head;
  std::optional<PmAddr> tail;
  bool set = false;
  std::optional<std::uint64_t> generation;  // of entries that have one
};
// A move of the tail.
struct TailMove {
  StoreNo store = kNoStore;
  PmAddr from = 0;
  std::uint64_t size = 0;
};
struct OpenTransaction {
  TransactionNo number = kNoTransaction;
  StoreNo first = kNoStore;  // of the journal's own
  std::vector<StoreNo> logged;
  std::vector<TailMove> grown;
  std::vector<StoreNo> commits;
  std::vector<StoreNo> others;
  std::vector<std::pair<StoreNo, StoreNo>> outside;  // stores behind the tail, with its last move
};
struct JournalEntry {
  PmAddr at = 0;
  std::uint64_t transaction = 0;
  bool record = false;
  std::uint64_t length = 0;
  std::vector<StoreNo> stores;
  StoreNo counts = kNoStore;  // what made it count
  std::vector<PmRange> targets;
  std::vector<std::byte> data;  // empty: it has none
  std::vector<StoreNo> inPlace;
};
// The entries of one transaction, among those that are given back together.
struct EntryGroup {
  TransactionNo number = kNoTransaction;
  std::vector<JournalEntry> entries;
  std::optional<JournalEntry> record;
  StoreNo end = kNoStore;  // by which all of it must be in place; kNoStore: the trace ends before
  Phase endPhase = Phase::Reclaim;
};

class Journal : public Tracker {
 public:
  Journal(World& world, Phases& phases, const MechanismDescription& what, MechanismNo number, TypedObject anchor)
      : Tracker(world, phases, what, number, anchor) {
    if (what.entry.type && what.entry.type->path.empty()) around_.elementType = what.entry.type->layout;
    hasRecords_ = what.commit && what.commit->record;
    commitInEntry_ = what.commit && what.entry.type && isOfEntry(what.commit->field);
    if (commitInEntry_ && !what.tail && !what.commit->generation && !what.commit->checksum && !what.entry.length)
      flaggedSize_ = fixedEntrySize();
    state_ = evaluate();
  }

  std::vector<PmRange> fields() const override {
    std::vector<PmRange> out;
    if (what_.head) addFields(*what_.head, out);
    if (what_.tail) addFields(*what_.tail, out);
    addFields(what_.area->at, out);
    addFields(what_.area->size, out);
    if (what_.commit && !commitInEntry_) addField(what_.commit->field, out);
    if (what_.commit && what_.commit->generation) addFields(*what_.commit->generation, out);
    // The address of a field of the area is no field that says something.
    std::erase_if(out, [&](const PmRange& r) { return state_.area && state_.area->overlaps(r); });
    return out;
  }
  std::vector<PmRange> areas() const override {
    return state_.area ? std::vector<PmRange>{*state_.area} : std::vector<PmRange>();
  }

  void fieldStored(StoreNo s) override {
    JournalState old = state_;
    state_ = evaluate();
    if (!state_.area || !old.area || *state_.area != *old.area || (what_.tail && (!state_.tail || !old.tail))) {
      if (transaction_)
        tag(s, Phase::Reclaim, number());
      else
        tag(s, Phase::Initialise, kNoTransaction);
      return;
    }
    checkInside(s);
    if (what_.tail && state_.head != old.head) {
      if (!transaction_) return tag(s, Phase::Initialise, kNoTransaction);
      return close(s, old, *state_.head == *state_.tail ? *old.tail : *state_.head);
    }
    if (what_.tail && state_.tail != old.tail) {
      bool emptied = *state_.tail == *state_.head && *old.tail != *old.head;
      if (emptied && !transaction_) return tag(s, Phase::Initialise, kNoTransaction);
      if (emptied) return close(s, old, *old.tail);
      // Set-up that leaves the log empty.
      if (*state_.tail == *state_.head) return tag(s, Phase::Initialise, kNoTransaction);
      begin(s);
      transaction_->grown.push_back({s, *old.tail, distance(*old.tail, *state_.tail)});
      tag(s, what_.preallocated ? Phase::Allocate : Phase::Commit, number());
      return;
    }
    if (commitInEntry_ && !what_.tail && state_.generation != old.generation && transaction_) return close(s, old, 0);
    if (!what_.commit || commitInEntry_) return sameAgain(s);
    if (state_.set) {
      if (old.set && !commitFieldIs(s)) return sameAgain(s);
      begin(s);
      transaction_->commits.push_back(s);
      tag(s, Phase::Commit, number());
    } else if (old.set && transaction_ && !what_.tail) {
      close(s, old, old.tail.value_or(0));
    } else if (transaction_) {
      tag(s, Phase::Reclaim, number());
      transaction_->others.push_back(s);
    } else {
      tag(s, Phase::Initialise, kNoTransaction);
    }
  }

  void areaStored(StoreNo s) override {
    if (flaggedSize_ != 0 && state_.area && flagTaken(s)) return;
    begin(s);
    transaction_->logged.push_back(s);
    tag(s, Phase::Log, number());
    if (!what_.preallocated || !state_.tail || !state_.head) return;
    PmRange range = world_.rangeOf(s);
    std::uint64_t used = distance(*state_.head, *state_.tail);
    if (distance(*state_.head, range.begin) + range.size() > used)
      transaction_->outside.emplace_back(s, transaction_->grown.empty() ? kNoStore : transaction_->grown.back().store);
  }

  // What was not reclaimed when the trace ended is judged as far as it came.
  void finish() override {
    if (transaction_) close(kNoStore, state_, state_.tail.value_or(0));
  }

 private:
  TransactionNo number() const { return transaction_->number; }
  // As soon as it is there: in space that is allocated, or by its checksum.
  bool countsByItself() const {
    if (hasRecords_ && what_.kind == MechanismKind::Redo) return false;
    return what_.preallocated || countsByChecksum();
  }
  bool countsByChecksum() const { return what_.commit && what_.commit->checksum; }
  bool isOfEntry(const FieldRef& f) const {
    const FieldRef& type = *what_.entry.type;
    if (f.layout != type.layout) return false;
    return type.path.empty() || f.path.starts_with(type.path + ".");
  }

  // 0: entries have a length of their own.
  std::uint64_t fixedEntrySize() const {
    if (!what_.entry.type) return 0;
    const FieldPlace& place = what_.entry.type->place;
    return place.stride != 0 ? place.stride : place.size;
  }

  // Of entries that count by a flag of their own: whether the store takes an entry's flag away. With the last one the
  // transaction ends.
  bool flagTaken(StoreNo s) {
    PmAddr first = state_.area->begin;
    PmAddr at = world_.rangeOf(s).begin;
    Around around = around_;
    around.element = at = first + (at - first) / flaggedSize_ * flaggedSize_;
    auto value = world_.valueOf(what_.commit->field, around);
    bool counts = value && (what_.commit->value ? *value == *what_.commit->value : *value != 0);
    if (counts) flagged_.insert(at);
    if (counts || flagged_.erase(at) == 0 || !transaction_) return false;
    if (flagged_.empty()) {
      close(s, state_, 0);
    } else {
      tag(s, Phase::Reclaim, number());
      transaction_->others.push_back(s);
    }
    return true;
  }

  void begin(StoreNo s) {
    if (transaction_) return;
    transaction_.emplace();
    transaction_->number = open();
    transaction_->first = s;
  }
  // The same value once more.
  void sameAgain(StoreNo s) {
    if (transaction_)
      tag(s, Phase::Commit, number());
    else
      tag(s, Phase::Initialise, kNoTransaction);
  }
  bool commitFieldIs(StoreNo s) const {
    auto at = world_.addressOf(what_.commit->field, around_);
    return at && PmRange::at(*at, what_.commit->field.place.size).overlaps(world_.rangeOf(s));
  }

  JournalState evaluate() const {
    JournalState out;
    auto at = world_.place(what_.area->at, around_);
    auto size = world_.evaluate(what_.area->size, around_);
    if (at && size && *size != 0 && *size <= BLACKOUT_MAX_FILE_SIZE && fileOf(*at) == fileOf(*at + *size - 1))
      out.area = PmRange::at(*at, *size);
    if (!out.area) return out;
    if (what_.tail) out.tail = world_.place(*what_.tail, around_);
    out.head = what_.head ? world_.place(*what_.head, around_) : out.area->begin;
    // The end of a ring is its beginning.
    for (auto* p : {&out.head, &out.tail})
      if (*p && what_.head && **p == out.area->end) *p = out.area->begin;
    if (commitInEntry_ && what_.commit->generation)
      out.generation = world_.evaluate(*what_.commit->generation, around_);
    if (what_.commit && !commitInEntry_) {
      auto value = world_.valueOf(what_.commit->field, around_);
      if (value && what_.commit->generation) {
        auto generation = world_.evaluate(*what_.commit->generation, around_);
        out.set = generation && *generation == *value;
      } else if (value) {
        out.set = what_.commit->value ? *value == *what_.commit->value : *value != 0;
      }
    }
    return out;
  }

  // From one position of the ring on to the other.
  std::uint64_t distance(PmAddr from, PmAddr to) const {
    if (!state_.area) return 0;
    return to >= from ? to - from : to + state_.area->size() - from;
  }

  void checkInside(StoreNo s) {
    for (const auto& position : {state_.head, state_.tail})
      if (position && (*position < state_.area->begin || *position > state_.area->end))
        broken(transaction_ ? number() : kNoTransaction, Rule::OutsideArea, Phase::Allocate, s);
  }

  // --- at the end of a transaction ---

  std::vector<JournalEntry> entries(const JournalState& log, PmAddr to) const;
  void keepVisible(JournalEntry& entry, const std::optional<PmRange>& ring) const;
  void fill(JournalEntry& entry, const Around& around) const;
  StoreNo whatCounts(const JournalEntry& entry, const Around& around) const;
  void close(StoreNo reclaim, const JournalState& log, PmAddr to);
  StoreNo firstLate(const JournalEntry& entry, StoreNo other) const;
  std::vector<EntryGroup> groupsOf(std::vector<JournalEntry> all, StoreNo reclaim);
  void putUnder(EntryGroup& group);
  void shareMoves(const std::vector<EntryGroup>& groups, StoreNo reclaim);
  StoreNo beginOf(const std::vector<JournalEntry>& all) const;
  StoreNo beginOf(const EntryGroup& group) const;
  static StoreNo firstOf(const EntryGroup& group) {
    StoreNo first = group.record ? group.record->stores.front() : kNoStore;
    for (const JournalEntry& e : group.entries) first = std::min(first, e.stores.front());
    return first;
  }
  // What a store that makes entries count is called.
  Phase countingPhase(StoreNo s) const {
    return phases_.tags[s].phase == Phase::Record ? Phase::Record : Phase::Commit;
  }
  void findInPlace(EntryGroup& group, StoreNo from, StoreNo to);
  void checkEntries(const EntryGroup& group);
  void checkInPlace(const EntryGroup& group);
  void checkBytes(const EntryGroup& group);
  void checkUsed(const EntryGroup& group);
  void keepRest(const JournalState& log, PmAddr to);

  JournalState state_;
  std::optional<OpenTransaction> transaction_;
  StoreNo lastClosed_ = kNoStore;
  std::map<std::uint64_t, TransactionNo> goesOn_;  // of which entries were given back, and others are there
  std::map<ThreadNo, StoreNo> lastEnded_;          // where entries have the number of their transaction
  bool hasRecords_ = false;
  bool commitInEntry_ = false;
  std::uint64_t flaggedSize_ = 0;  // of an entry that counts by its own flag, which is cleared afterwards; 0: none does
  std::set<PmAddr> flagged_;       // those that count
};

std::vector<JournalEntry> Journal::entries(const JournalState& log, PmAddr to) const {
  std::vector<JournalEntry> out;
  Around around = around_;
  const PmRange area = *log.area;
  const bool ring = what_.head.has_value();
  if (ring) around.ring = area;
  const std::uint64_t fixed = fixedEntrySize();
  std::multimap<PmAddr, StoreNo> logged;
  for (StoreNo s : transaction_->logged) logged.emplace(world_.rangeOf(s).begin, s);
  auto storesIn = [&](PmRange range, std::vector<StoreNo>& into) {
    for (auto it = logged.lower_bound(range.begin - std::min<PmAddr>(range.begin, 15));
         it != logged.end() && it->first < range.end; ++it)
      if (world_.rangeOf(it->second).overlaps(range)) into.push_back(it->second);
  };
  PmAddr at = what_.tail ? *log.head : area.begin;
  std::uint64_t left = what_.tail ? distance(at, to) : area.size();
  // Where entries have one size and no tail, those that were stored to are known without a walk.
  std::set<PmAddr> stored;
  bool walks = what_.tail || what_.entry.length || fixed == 0;
  if (!walks)
    for (const auto& [addr, s] : logged) stored.insert(area.begin + (addr - area.begin) / fixed * fixed);
  auto next = stored.begin();
  for (std::size_t steps = 0; left != 0 && steps < kMostEntries; ++steps) {
    if (!walks) {
      if (next == stored.end()) break;
      at = *next++;
      left = area.end - at;
    }
    around.element = at;
    std::uint64_t length = fixed != 0 ? fixed : left;
    if (what_.entry.length) length = world_.evaluate(*what_.entry.length, around).value_or(0);
    if (length == 0 || length > left) break;
    JournalEntry entry;
    entry.at = at;
    entry.length = length;
    PmAddr end = at + length;
    if (ring && end > area.end) {
      storesIn({at, area.end}, entry.stores);
      storesIn({area.begin, area.begin + (end - area.end)}, entry.stores);
    } else {
      storesIn({at, end}, entry.stores);
    }
    std::sort(entry.stores.begin(), entry.stores.end());
    keepVisible(entry, around.ring);
    if (!entry.stores.empty()) {
      if (what_.entry.transaction) entry.transaction = world_.evaluate(*what_.entry.transaction, around).value_or(0);
      if (hasRecords_) entry.record = world_.valueOf(what_.commit->field, around) == what_.commit->value;
      fill(entry, around);
      out.push_back(std::move(entry));
    }
    left -= length;
    at = end;
    if (ring && at >= area.end) at -= area.size();
  }
  return out;
}

// What an entry was before, when its space was cleared say, is not what recovery reads: only stores that some byte of
// it comes from count.
void Journal::keepVisible(JournalEntry& entry, const std::optional<PmRange>& ring) const {
  if (entry.length > kLargestTarget) return;
  std::vector<bool> seen(entry.length);
  std::vector<StoreNo> visible;
  for (auto it = entry.stores.rbegin(); it != entry.stores.rend(); ++it) {
    PmRange r = world_.rangeOf(*it);
    bool any = false;
    for (PmAddr a = r.begin; a < r.end; ++a) {
      PmAddr at = ring && a < entry.at ? a + ring->size() : a;
      if (at < entry.at || at - entry.at >= entry.length || seen[at - entry.at]) continue;
      seen[at - entry.at] = true;
      any = true;
    }
    if (any) visible.push_back(*it);
  }
  entry.stores.assign(visible.rbegin(), visible.rend());
}

StoreNo Journal::whatCounts(const JournalEntry& entry, const Around& around) const {
  if (countsByChecksum()) return kNoStore;
  // A record counts by its field, or by the tail that moves over it; entries by what they would without.
  if (commitInEntry_ && (!hasRecords_ || (entry.record && what_.preallocated))) {
    auto at = world_.addressOf(what_.commit->field, around);
    if (!at) return kNoStore;
    if (around.ring && *at >= around.ring->end) *at -= around.ring->size();
    PmRange field = PmRange::at(*at, what_.commit->field.place.size);
    for (auto it = entry.stores.rbegin(); it != entry.stores.rend(); ++it)
      if (world_.rangeOf(*it).overlaps(field)) return *it;
    return kNoStore;
  }
  if (what_.commit && !hasRecords_) {
    // The first one after the entry; else the last.
    for (StoreNo c : transaction_->commits)
      if (c > entry.stores.back()) return c;
    return transaction_->commits.empty() ? kNoStore : transaction_->commits.back();
  }
  if (what_.preallocated) return kNoStore;
  for (const TailMove& g : transaction_->grown)
    if (distance(g.from, entry.at) + entry.length <= g.size) return g.store;
  return kNoStore;
}

void Journal::fill(JournalEntry& entry, const Around& around) const {
  entry.counts = whatCounts(entry, around);
  if (entry.record) return;
  // A checksum of the whole log is a part of each of its entries: all of that counts together, in whatever order.
  if (countsByChecksum() && !commitInEntry_ && !transaction_->commits.empty()) {
    StoreNo sum = transaction_->commits.back();
    entry.stores.insert(std::upper_bound(entry.stores.begin(), entry.stores.end(), sum), sum);
  }
  for (const FieldRef& f : what_.inPlace) {
    if (f.layout == around_.anchor.layout) {
      addField(f, entry.targets);
      continue;
    }
    for (PmAddr base : world_.objectsOf(f.layout, world_.now())) {
      std::uint64_t size =
          f.place.stride != 0 && f.place.count != UINT64_MAX ? f.place.stride * f.place.count : f.place.size;
      entry.targets.push_back(PmRange::at(base + (f.place.stride != 0 ? f.place.array : f.place.offset), size));
    }
  }
  if (!what_.entry.target) return;
  auto target = world_.place(*what_.entry.target, around);
  auto size = world_.evaluate(*what_.entry.size, around);
  if (!target || !size || *size == 0 || *size > kLargestTarget) return;
  entry.targets.push_back(PmRange::at(*target, *size));
  if (!what_.entry.data) return;
  auto data = world_.addressOf(*what_.entry.data, around);
  if (!data) return;
  std::uint64_t room = what_.entry.data->place.size;
  if (*size > room && *data + *size > entry.at + entry.length && !what_.entry.length) return;
  entry.data.resize(*size);
  if (around.ring && *data >= around.ring->end) *data -= around.ring->size();
  world_.read(*data, entry.data, around.ring);
}

void Journal::close(StoreNo reclaim, const JournalState& log, PmAddr to) {
  if (reclaim != kNoStore) tag(reclaim, Phase::Reclaim, number());
  std::vector<JournalEntry> all =
      log.area && (!what_.tail || log.head) ? entries(log, to) : std::vector<JournalEntry>();
  const bool several = what_.entry.transaction || hasRecords_;
  StoreNo begin = several ? StoreNo(0) : beginOf(all);
  std::vector<EntryGroup> groups = groupsOf(std::move(all), reclaim);
  for (auto [s, move] : transaction_->outside) {
    TransactionNo whose = number();
    for (const EntryGroup& g : groups)
      for (const JournalEntry& e : g.entries)
        if (std::find(e.stores.begin(), e.stores.end(), s) != e.stores.end()) whose = g.number;
    broken(whose, Rule::OutsideAllocated, Phase::Log, s, Phase::Allocate, move);
  }
  for (EntryGroup& g : groups) {
    if (several) {
      putUnder(g);
      begin = beginOf(g);
    }
    findInPlace(g, begin, g.end != kNoStore ? g.end : world_.index().stores().endId());
    checkEntries(g);
    checkInPlace(g);
    checkBytes(g);
    if (g.end != kNoStore) checkUsed(g);
  }
  if (several) shareMoves(groups, reclaim);
  lastClosed_ = reclaim;
  keepRest(log, to);
  for (const EntryGroup& g : groups) {
    bool ended = g.end != kNoStore && std::none_of(goesOn_.begin(), goesOn_.end(),
                                                   [&](const auto& other) { return other.second == g.number; });
    if (several && ended) lastEnded_[world_.threadOf(firstOf(g))] = g.end;
  }
}

// By the numbers in them, in the order of the log; a record is the last of its transaction.
std::vector<EntryGroup> Journal::groupsOf(std::vector<JournalEntry> all, StoreNo reclaim) {
  std::vector<EntryGroup> out;
  if (!what_.entry.transaction && !hasRecords_) {
    out.push_back({number(), std::move(all), {}, reclaim, Phase::Reclaim});
    return out;
  }
  std::map<std::uint64_t, std::size_t> open;
  // Whether the number that was given when the log began to be filled is taken.
  bool used = std::any_of(goesOn_.begin(), goesOn_.end(), [&](const auto& g) { return g.second == number(); });
  for (JournalEntry& e : all) {
    auto [it, fresh] = open.try_emplace(e.transaction, out.size());
    if (fresh) {
      auto before = goesOn_.find(e.transaction);
      TransactionNo no = before != goesOn_.end() ? before->second : used ? Tracker::open() : number();
      if (no == number()) used = true;
      out.push_back({no, {}, {}, reclaim, Phase::Reclaim});
    }
    EntryGroup& g = out[it->second];
    if (!e.record) {
      g.entries.push_back(std::move(e));
      continue;
    }
    if (what_.kind == MechanismKind::Undo) {
      if (e.counts != kNoStore) {
        g.end = e.counts;
        g.endPhase = Phase::Record;
      }
    } else {
      for (JournalEntry& mine : g.entries) mine.counts = e.counts;
    }
    goesOn_.erase(e.transaction);
    open.erase(it);
    g.record = std::move(e);
  }
  // Without a record, entries of a redo journal never counted.
  if (hasRecords_ && what_.kind == MechanismKind::Redo)
    for (const auto& [transaction, i] : open)
      for (JournalEntry& mine : out[i].entries) mine.counts = kNoStore;
  for (const auto& [transaction, i] : open) goesOn_[transaction] = out[i].number;
  std::stable_sort(out.begin(), out.end(), [](const EntryGroup& a, const EntryGroup& b) { return a.end < b.end; });
  return out;
}

// The stores of a transaction's entries were not known to be its.
void Journal::putUnder(EntryGroup& group) {
  auto take = [&](const JournalEntry& e) {
    for (StoreNo s : e.stores)
      if (phases_.tags[s].mechanism == number_ && phases_.tags[s].phase == Phase::Log)
        phases_.tags[s].transaction = group.number;
  };
  for (const JournalEntry& e : group.entries) take(e);
  if (!group.record) return;
  take(*group.record);
  StoreNo counts = group.record->counts;
  if (counts != kNoStore && phases_.tags[counts].phase == Phase::Log) phases_.tags[counts].phase = Phase::Record;
}

// A move of the head or tail may concern several transactions: it is protected if all of them are.
void Journal::shareMoves(const std::vector<EntryGroup>& groups, StoreNo reclaim) {
  auto give = [&](StoreNo s, auto concerns) {
    if (s == kNoStore) return;
    const EntryGroup* whose = nullptr;
    for (const EntryGroup& g : groups)
      if (concerns(g) &&
          (whose == nullptr || (phases_.transactions[g.number].broken && !phases_.transactions[whose->number].broken)))
        whose = &g;
    if (whose != nullptr && phases_.tags[s].mechanism == number_) phases_.tags[s].transaction = whose->number;
  };
  give(reclaim, [](const EntryGroup&) { return true; });
  for (const TailMove& move : transaction_->grown) {
    auto covers = [&](const JournalEntry& e) { return distance(move.from, e.at) < move.size; };
    give(move.store, [&](const EntryGroup& g) {
      return std::any_of(g.entries.begin(), g.entries.end(), covers) || (g.record && covers(*g.record));
    });
  }
}

// Where writes in place are looked for from.
StoreNo Journal::beginOf(const std::vector<JournalEntry>& all) const {
  // Space that was cleared once, perhaps in another operation, is no beginning: that is where something first counts.
  StoreNo from = transaction_->first;
  StoreNo counts = !transaction_->grown.empty()     ? transaction_->grown.front().store
                   : !transaction_->commits.empty() ? transaction_->commits.front()
                                                    : from;
  if (auto begin = world_.operationBegin(counts)) {
    from = std::min(counts, *begin);
  } else if (!all.empty()) {
    from = all.front().stores.front();
    for (const JournalEntry& e : all) from = std::min(from, e.stores.front());
  }
  if (lastClosed_ != kNoStore) from = std::max(from, lastClosed_ + 1);
  return from;
}

// The same for one of several transactions: the operation that logs it, behind what ended in the same thread before.
StoreNo Journal::beginOf(const EntryGroup& group) const {
  StoreNo first = firstOf(group);
  StoreNo from = std::min(first, world_.operationBegin(first).value_or(first));
  auto before = lastEnded_.find(world_.threadOf(first));
  if (before != lastEnded_.end() && before->second < first) from = std::max(from, before->second + 1);
  return from;
}

void Journal::findInPlace(EntryGroup& group, StoreNo from, StoreNo to) {
  for (JournalEntry& e : group.entries)
    for (const PmRange& target : e.targets)
      for (StoreNo s : world_.storesTo(target, from, to)) {
        const StoreTag& known = phases_.tags[s];
        if (known.phase == Phase::None || (known.phase == Phase::InPlace && known.transaction == group.number))
          e.inPlace.push_back(s);
      }
}

// The first store of an entry that may be missing when the other store is there; kNoStore: what may be missing changes
// nothing. Always the first, whichever of them changes something: so that one mistake is one finding.
StoreNo Journal::firstLate(const JournalEntry& entry, StoreNo other) const {
  StoreNo first = kNoStore;
  bool matters = false;
  for (StoreNo s : entry.stores) {
    if (s == other || world_.inOrder(s, other)) continue;
    if (first == kNoStore) first = s;
    matters |= world_.changes(s);
  }
  return matters ? first : kNoStore;
}

// Space before entries, entries before what makes them count.
void Journal::checkEntries(const EntryGroup& group) {
  for (const JournalEntry& e : group.entries) {
    if (what_.preallocated)
      for (const TailMove& g : transaction_->grown) {
        if (distance(g.from, e.at) >= g.size) continue;
        for (StoreNo s : e.stores)
          if (world_.changes(s) && !world_.inOrder(g.store, s)) {
            broken(group.number, Rule::Order, Phase::Allocate, g.store, Phase::Log, s);
            break;
          }
      }
    if (e.counts == kNoStore) continue;
    if (StoreNo late = firstLate(e, e.counts); late != kNoStore)
      broken(group.number, Rule::Order, Phase::Log, late, countingPhase(e.counts), e.counts);
  }
  if (!group.record || group.record->counts == kNoStore) return;
  if (StoreNo late = firstLate(*group.record, group.record->counts); late != kNoStore)
    broken(group.number, Rule::Order, Phase::Log, late, countingPhase(group.record->counts), group.record->counts);
}

// Entries that count before what they are about; that before the log is empty.
void Journal::checkInPlace(const EntryGroup& group) {
  struct Late {
    StoreNo first = kNoStore;
    Phase phase{};
  };
  std::map<StoreNo, std::optional<Late>> stores;  // none: some entry is in time
  for (const JournalEntry& e : group.entries) {
    if (e.counts == kNoStore && !countsByItself()) continue;  // it never counted, so it protects nothing
    Late late;
    for (StoreNo s : e.inPlace) {
      late = {};
      if (e.counts != kNoStore) {
        if (!world_.inOrder(e.counts, s)) late = {e.counts, countingPhase(e.counts)};
      } else {
        if (StoreNo logged = firstLate(e, s); logged != kNoStore) late = {logged, Phase::Log};
      }
      auto [it, fresh] = stores.try_emplace(s, late);
      if (late.first == kNoStore)
        it->second.reset();
      else if (fresh)
        it->second = late;
    }
  }
  bool told = false, toldReclaim = false;
  for (const auto& [s, late] : stores) {
    tag(s, Phase::InPlace, group.number);
    if (!world_.changes(s)) continue;
    if (late && !told) {
      broken(group.number, Rule::Order, late->phase, late->first, Phase::InPlace, s);
      told = true;
    }
    if (group.end != kNoStore && !toldReclaim && !world_.inOrder(s, group.end)) {
      broken(group.number, Rule::Order, Phase::InPlace, s, group.endPhase, group.end);
      toldReclaim = true;
    }
  }
}

// Undo entries have what was there before, redo entries what is there afterwards.
void Journal::checkBytes(const EntryGroup& group) {
  const bool undo = what_.kind == MechanismKind::Undo;
  for (std::size_t i = 0; i < group.entries.size(); ++i) {
    const JournalEntry& e = group.entries[i];
    if (e.data.empty() || e.targets.empty()) continue;
    const PmRange target = e.targets.front();
    std::vector<StoreNo> last(target.size(), kNoStore);  // of each byte: the store that decides
    for (StoreNo s : e.inPlace) {
      if (undo && s < e.stores.back()) continue;
      PmRange r = world_.rangeOf(s);
      for (PmAddr a = std::max(r.begin, target.begin); a < std::min(r.end, target.end); ++a) {
        StoreNo& decides = last[a - target.begin];
        if (!undo || decides == kNoStore) decides = s;
      }
    }
    // The last entry of a byte is the one that a redo leaves.
    if (!undo)
      for (std::size_t later = i + 1; later < group.entries.size(); ++later)
        for (const PmRange& other : group.entries[later].targets)
          for (PmAddr a = std::max(other.begin, target.begin); a < std::min(other.end, target.end); ++a)
            last[a - target.begin] = kNoStore;
    for (std::uint64_t b = 0; b < target.size(); ++b) {
      if (last[b] == kNoStore) continue;
      std::byte bytes[16];
      undo ? world_.before(last[b], bytes) : world_.after(last[b], bytes);
      if (bytes[target.begin + b - world_.rangeOf(last[b]).begin] == e.data[b]) continue;
      broken(group.number, undo ? Rule::WrongOldBytes : Rule::WrongNewBytes, Phase::Log, e.stores.back(),
             Phase::InPlace, last[b]);
      break;
    }
  }
}

// What is logged is written in place, and not after the log is empty.
void Journal::checkUsed(const EntryGroup& group) {
  StoreNo end = world_.operationEnd(group.end).value_or(group.end);
  for (const JournalEntry& e : group.entries) {
    bool counted = e.counts != kNoStore || countsByItself();
    if (!counted || e.targets.empty() || !e.inPlace.empty()) continue;
    StoreNo after = kNoStore;
    for (const PmRange& target : e.targets)
      for (StoreNo s : world_.storesTo(target, group.end + 1, end))
        if (after == kNoStore && untagged(s)) after = s;
    if (after != kNoStore) {
      broken(group.number, Rule::Order, Phase::InPlace, after, group.endPhase, group.end);
      return;
    }
    if (!what_.inPlace.empty()) continue;  // which of them, the entry does not say
    broken(group.number, Rule::NeverInPlace, Phase::Log, e.stores.back(), group.endPhase, group.end);
    return;
  }
}

// Entries behind those that were reclaimed belong to a transaction that goes on, or to several.
void Journal::keepRest(const JournalState& log, PmAddr to) {
  const bool none = !what_.tail || !log.tail || !log.head || to == *log.tail;
  std::set<std::uint64_t> there;
  if (!none && !goesOn_.empty()) {
    JournalState rest = log;
    rest.head = to;
    for (const JournalEntry& e : entries(rest, *log.tail)) there.insert(e.transaction);
  }
  std::erase_if(goesOn_, [&](const auto& g) { return !there.contains(g.first); });
  OpenTransaction old = std::move(*transaction_);
  transaction_.reset();
  if (none) return;
  std::uint64_t done = distance(*log.head, to);
  for (StoreNo s : old.logged)
    if (distance(*log.head, world_.rangeOf(s).begin) >= done) {
      if (!transaction_ && !goesOn_.empty()) {
        transaction_.emplace();
        transaction_->number = goesOn_.begin()->second;
        transaction_->first = s;
      }
      begin(s);
      transaction_->logged.push_back(s);
      phases_.tags[s].transaction = number();
    }
  for (const TailMove& g : old.grown)
    if (transaction_ && distance(*log.head, g.from) + g.size > done) transaction_->grown.push_back(g);
}

}  // namespace

std::unique_ptr<Tracker> trackJournal(World& world, Phases& phases, const MechanismDescription& what,
                                      MechanismNo number, TypedObject anchor) {
  return std::make_unique<Journal>(world, phases, what, number, anchor);
}

}  // namespace blackout
