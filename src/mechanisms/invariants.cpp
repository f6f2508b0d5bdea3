#include "mechanisms/invariants.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "events/trace.h"
#include "mechanisms/tracker.h"

namespace blackout {

namespace {

// The struct whose objects a mechanism is found in.
LayoutNo anchorOf(const MechanismDescription& m) {
  if (m.pointer) return m.pointer->layout;
  auto first = [](const Expression& e) { return e.fields().empty() ? kNoLayout : e.fields().front().layout; };
  if (m.tail)
    if (LayoutNo of = first(*m.tail); of != kNoLayout) return of;
  // A field of the entry says nothing of where the journal is.
  if (m.commit && !(m.entry.type && m.entry.type->path.empty() && m.commit->field.layout == m.entry.type->layout))
    return m.commit->field.layout;
  if (m.area)
    if (LayoutNo of = first(m.area->at); of != kNoLayout) return of;
  if (m.commit && m.commit->generation)
    if (LayoutNo of = first(*m.commit->generation); of != kNoLayout) return of;
  if (!m.copies.empty()) return first(m.copies.front());
  return kNoLayout;
}

class Check {
 public:
  Check(const Index& index, const Description& description, const StructLayouts& layouts)
      : index_(index), trace_(index.trace()), description_(description), layouts_(layouts) {}

  Phases run() {
    TypedObjects objects(trace_, layouts_);
    for (const DescribedStruct& s : description_.structs)
      for (std::uint64_t at : s.at)
        if (trace_.files().size() > 1) objects.declare({layouts_.find(s.layout.name), pmAddr(FileNo(1), at)});
    StoreNo next = 0;
    for (EventNo n = 0; n < trace_.end(); n = trace_.next(n)) {
      if (!isStore(trace_[n])) continue;
      objects.store(n);
      const Site* site = trace_.siteOf(trace_[n]);
      ++(site != nullptr && !site->type.empty()                       ? phases_.typed.bySite
         : objects.at(trace_[n].addr, bytesOf(trace_[n])).has_value() ? phases_.typed.byObject
                                                                      : phases_.typed.unknown);
    }
    phases_.tags.resize(index_.stores().size());
    phases_.instances.resize(description_.mechanisms.size());
    World world(index_, layouts_, objects.lives());
    findStarts(objects.lives());
    auto start = starts_.begin();
    for (EventNo n = 0; n < trace_.end(); n = trace_.next(n)) {
      const Event& e = trace_[n];
      StoreNo s = kNoStore;
      bool whole = true;  // not the first half of a joined store
      if (isStore(e)) {
        s = next;
        whole = (e.len & BLACKOUT_JOINED) == 0;
        if (whole) ++next;
      }
      for (; start != starts_.end() && start->at <= n; ++start) waiting_.push_back(*start);
      // A file that does not exist yet has no addresses.
      if (s != kNoStore && !waiting_.empty())
        std::erase_if(waiting_, [&](const Start& waits) {
          if (fileOf(waits.anchor.base) != fileOf(e.addr)) return false;
          begin(world, waits);
          return true;
        });
      if (s == kNoStore || !whole) {
        world.event(n, s);
        continue;
      }
      store(world, n, s);
    }
    for (const auto& t : trackers_) t->finish();
    return std::move(phases_);
  }

 private:
  struct Start {
    EventNo at = 0;
    MechanismNo mechanism = 0;
    TypedObject anchor;
  };
  struct Watch {
    PmRange range;
    std::size_t tracker = 0;
    bool area = false;
  };

  void findStarts(const std::vector<ObjectLife>& lives) {
    for (MechanismNo m : idRange<MechanismNo>(description_.mechanisms.size())) {
      LayoutNo anchor = anchorOf(description_.mechanisms[m.value()]);
      for (const ObjectLife& life : lives)
        if (life.object.layout == anchor) {
          starts_.push_back({life.from, m, life.object});
          ++phases_.instances[m.value()];
        }
    }
    std::stable_sort(starts_.begin(), starts_.end(), [](const Start& a, const Start& b) { return a.at < b.at; });
  }

  void begin(World& world, const Start& start) {
    const MechanismDescription& m = description_.mechanisms[start.mechanism.value()];
    auto make = m.kind == MechanismKind::Log           ? trackLog
                : m.kind == MechanismKind::Replicas    ? trackReplicas
                : m.kind == MechanismKind::CopyOnWrite ? trackCopyOnWrite
                                                       : trackJournal;
    trackers_.push_back(make(world, phases_, m, start.mechanism, start.anchor));
    watched_.emplace_back();
    watch(trackers_.size() - 1);
  }

  // Lines with something in them that a tracker wants to hear of. An area is cut into lines once, when it changes.
  void watch(std::size_t tracker) {
    auto wanted = [&] {
      std::vector<Watch> out;
      for (const PmRange& r : trackers_[tracker]->fields()) out.push_back({r, tracker, false});
      for (const PmRange& r : trackers_[tracker]->areas()) out.push_back({r, tracker, true});
      return out;
    }();
    auto same = [](const Watch& a, const Watch& b) { return a.range == b.range && a.area == b.area; };
    std::vector<Watch>& old = watched_[tracker];
    if (std::equal(old.begin(), old.end(), wanted.begin(), wanted.end(), same)) return;
    for (const Watch& w : old) {
      auto [from, to] = byBegin_.equal_range(w.range.begin);
      for (auto it = from; it != to; ++it)
        if (it->second.tracker == tracker && it->second.range == w.range && it->second.area == w.area) {
          byBegin_.erase(it);
          break;
        }
    }
    for (const Watch& w : wanted) {
      byBegin_.emplace(w.range.begin, w);
      longest_ = std::max(longest_, w.range.size());
    }
    old = std::move(wanted);
    groups_.clear();
  }

  // Those that a store to the range concerns. Watches are few, or of one kind and short: a list of where each group of
  // them ends would be more code than it saves.
  void concerned(PmRange range, std::vector<Watch>& out) {
    out.clear();
    LineNo line = lineOf(range.begin);
    auto [group, fresh] = groups_.try_emplace(line);
    if (fresh) {
      PmRange whole = PmRange::at(addressOf(line), BLACKOUT_LINE);
      PmAddr first = whole.begin > longest_ ? whole.begin - longest_ : 0;
      for (auto it = byBegin_.lower_bound(first); it != byBegin_.end() && it->first < whole.end; ++it)
        if (it->second.range.overlaps(whole)) group->second.push_back(it->second);
    }
    for (const Watch& w : group->second)
      if (w.range.overlaps(range)) out.push_back(w);
  }

  void store(World& world, EventNo n, StoreNo s) {
    concerned(world.rangeOf(s), now_);
    for (const Watch& w : now_) trackers_[w.tracker]->beforeStore(s);
    world.event(n, s);
    // A field inside an area is a field.
    std::vector<Watch> mine = now_;
    for (const Watch& w : mine) {
      bool field =
          std::any_of(mine.begin(), mine.end(), [&](const Watch& o) { return o.tracker == w.tracker && !o.area; });
      if (!w.area) {
        bool told = std::any_of(mine.begin(), mine.end(),
                                [&](const Watch& o) { return &o < &w && o.tracker == w.tracker && !o.area; });
        if (!told) trackers_[w.tracker]->fieldStored(s);
        watch(w.tracker);
      } else if (!field) {
        trackers_[w.tracker]->areaStored(s);
        watch(w.tracker);
      }
    }
  }

  const Index& index_;
  const Trace& trace_;
  const Description& description_;
  const StructLayouts& layouts_;
  Phases phases_;
  std::vector<Start> starts_;   // by event
  std::vector<Start> waiting_;  // for the first store to their file
  std::vector<std::unique_ptr<Tracker>> trackers_;
  std::vector<std::vector<Watch>> watched_;
  std::multimap<PmAddr, Watch> byBegin_;
  std::uint64_t longest_ = 0;
  std::unordered_map<LineNo, std::vector<Watch>> groups_;  // of lines that were stored to since the watches changed
  std::vector<Watch> now_;
};

}  // namespace

Result<Phases> checkMechanisms(const Index& index, Description& description, StructLayouts& layouts) {
  if (auto bound = description.bind(layouts); !bound) return tl::unexpected(bound.error());
  return Check(index, description, layouts).run();
}

}  // namespace blackout
