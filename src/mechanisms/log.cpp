// Log-structured writes (Silhouette, 3.2): what is appended behind the tail is durable before the tail moves over it. A
// log may be made of units that lead to each other, as the pages of a file's log, or be a ring.
#include <algorithm>

#include "events/trace.h"
#include "mechanisms/tracker.h"

namespace blackout {

namespace {

using Phase = MechanismPhase;
using Rule = MechanismRule;

constexpr int kMostUnits = 4096;  // that one move of a tail goes over

class Log : public Tracker {
 public:
  Log(World& world, Phases& phases, const MechanismDescription& what, MechanismNo number, TypedObject anchor)
      : Tracker(world, phases, what, number, anchor), tail_(world.place(*what.tail, around_)) {}

  std::vector<PmRange> fields() const override {
    std::vector<PmRange> out;
    for (const FieldRef& f : what_.tail->fields())
      if (f.place.size <= 8) addField(f, out);
    return out;
  }

  void fieldStored(StoreNo s) override {
    std::optional<PmAddr> old = tail_;
    tail_ = world_.place(*what_.tail, around_);
    if (!old || !tail_ || *tail_ == *old || offsetOf(*old) == 0) return tag(s, Phase::Initialise, kNoTransaction);
    std::vector<PmRange> appended = between(*old, *tail_);
    if (appended.empty() && what_.unit != 0 && *tail_ > *old && *tail_ - *old <= what_.unit) {
      // Over the end of a unit, and not by way of its link.
      TransactionNo outside = open();
      tag(s, Phase::Publish, outside);
      broken(outside, Rule::OutsideArea, Phase::Publish, s);
      last_ = s;
      return;
    }
    // A log that is cut or begun anew commits nothing.
    if (appended.empty()) return tag(s, Phase::Initialise, kNoTransaction);
    TransactionNo transaction = open();
    tag(s, Phase::Publish, transaction);
    checkArea(transaction, s);
    StoreNo from = last_ == kNoStore ? StoreNo(0) : last_ + 1;
    if (auto begin = world_.operationBegin(s)) from = std::max(from, *begin);
    std::vector<StoreNo> stores;
    for (const PmRange& r : appended)
      for (StoreNo a : world_.storesTo(r, from, s)) stores.push_back(a);
    std::sort(stores.begin(), stores.end());
    bool late = false;
    for (StoreNo a : stores) {
      if (!untagged(a)) continue;
      tag(a, Phase::Append, transaction);
      if (late || !world_.changes(a) || world_.inOrder(a, s)) continue;
      broken(transaction, Rule::Order, Phase::Append, a, Phase::Publish, s);
      late = true;
    }
    // What is written behind the tail's back: the entry comes after the tail.
    StoreNo end = world_.operationEnd(s).value_or(s);
    for (const PmRange& r : appended)
      for (StoreNo a : world_.storesTo(r, s + 1, end)) {
        if (late) break;
        broken(transaction, Rule::Order, Phase::Append, a, Phase::Publish, s);
        late = true;
      }
    checkEntries(transaction, appended, from, s);
    last_ = s;
  }

 private:
  PmRange unitOf(PmAddr at) const {
    std::uint64_t offset = offsetOf(at) / what_.unit * what_.unit;
    return PmRange::at(pmAddr(fileOf(at), offset), what_.unit);
  }

  // The bytes from one position on to the other; none: there is no way.
  std::vector<PmRange> between(PmAddr from, PmAddr to) const {
    if (what_.unit == 0) {
      if (to > from && fileOf(to) == fileOf(from)) return {{from, to}};
      auto area = areaNow();
      if (!area || from < area->begin || from > area->end || to < area->begin || to > area->end) return {};
      std::vector<PmRange> out;
      if (from < area->end) out.push_back({from, area->end});
      if (area->begin < to) out.push_back({area->begin, to});
      return out;
    }
    std::vector<PmRange> out;
    // A tail at the end of a unit is still of that unit.
    PmRange unit = unitOf(offsetOf(from) % what_.unit == 0 && offsetOf(from) != 0 && to <= from ? from - 1 : from);
    PmAddr at = from;
    for (int i = 0; i < kMostUnits; ++i) {
      if (to >= at && to <= unit.end) {
        if (at < to) out.push_back({at, to});
        return out;
      }
      if (!what_.link) return {};
      if (at < unit.end) out.push_back({at, unit.end});
      // The unit's own link.
      std::optional<PmAddr> next;
      for (PmAddr base : world_.objectsOf(what_.link->layout, world_.now()))
        if (base >= unit.begin && base < unit.end)
          next = world_.resolve(world_.number(base + what_.link->place.offset, what_.link->place.size),
                                fileOf(unit.begin));
      if (!next || offsetOf(*next) == 0) return {};
      unit = unitOf(*next);
      at = *next;
    }
    return {};
  }

  std::optional<PmRange> areaNow() const {
    if (!what_.area) return std::nullopt;
    auto at = world_.place(what_.area->at, around_);
    auto size = world_.evaluate(what_.area->size, around_);
    if (!at || !size || *size == 0 || *size > BLACKOUT_MAX_FILE_SIZE) return std::nullopt;
    return PmRange::at(*at, *size);
  }

  void checkArea(TransactionNo transaction, StoreNo s) {
    auto area = areaNow();
    if (area && (*tail_ < area->begin || *tail_ > area->end)) broken(transaction, Rule::OutsideArea, Phase::Publish, s);
  }

  // Entries that were written for this move of the tail lie in what it moves over, and not on one another.
  void checkEntries(TransactionNo transaction, const std::vector<PmRange>& appended, StoreNo from, StoreNo s) {
    if (!what_.entry.type || !what_.entry.type->path.empty()) return;
    auto stores = world_.index().stores();
    EventNo begin = from < s ? stores[from].event : stores[s].event;
    std::vector<std::pair<PmRange, StoreNo>> entries;
    for (const ObjectLife& life : world_.livesOf(what_.entry.type->layout)) {
      if (life.learned < begin || life.learned >= stores[s].event) continue;
      PmRange entry = PmRange::at(life.object.base, what_.entry.type->place.size);
      StoreNo by = world_.index().storeOf(life.learned);
      if (by == kNoStore) continue;
      bool inside = std::any_of(appended.begin(), appended.end(),
                                [&](const PmRange& r) { return r.begin <= entry.begin && entry.end <= r.end; });
      bool touches = std::any_of(appended.begin(), appended.end(), [&](const PmRange& r) { return r.overlaps(entry); });
      if (touches && !inside) broken(transaction, Rule::OutsideArea, Phase::Append, by, Phase::Publish, s);
      if (touches) entries.emplace_back(entry, by);
    }
    std::sort(entries.begin(), entries.end());
    for (std::size_t i = 1; i < entries.size(); ++i)
      if (entries[i - 1].first.overlaps(entries[i].first)) {
        StoreNo a = std::min(entries[i - 1].second, entries[i].second);
        StoreNo b = std::max(entries[i - 1].second, entries[i].second);
        broken(transaction, Rule::EntriesOverlap, Phase::Append, a, Phase::Append, b);
        return;
      }
  }

  std::optional<PmAddr> tail_;
  StoreNo last_ = kNoStore;  // the last move of the tail
};

}  // namespace

std::unique_ptr<Tracker> trackLog(World& world, Phases& phases, const MechanismDescription& what, MechanismNo number,
                                  TypedObject anchor) {
  return std::make_unique<Log>(world, phases, what, number, anchor);
}

}  // namespace blackout
