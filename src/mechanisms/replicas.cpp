// Replication (Silhouette, 3.3): an update goes to the primary, and when that is durable to the other copies, one after
// the other. It is judged by what the copies hold, so it doesn't matter how they are written: by memcpy, through
// volatile memory, or field by field.
#include <algorithm>

#include "events/trace.h"
#include "mechanisms/tracker.h"

namespace blackout {

namespace {

using Phase = MechanismPhase;
using Rule = MechanismRule;

constexpr std::uint64_t kLargestCopy = std::uint64_t{1} << 24;

struct CopyUpdate {
  TransactionNo number = kNoTransaction;
  std::optional<StoreNo> operation;
  std::vector<std::vector<StoreNo>> stores;  // by copy
  std::size_t last = 0;                      // the copy that was stored to last
  bool late = false;
};

class Replicas : public Tracker {
 public:
  Replicas(World& world, Phases& phases, const MechanismDescription& what, MechanismNo number, TypedObject anchor)
      : Tracker(world, phases, what, number, anchor) {
    find();
  }

  // Pointers to the copies may change.
  std::vector<PmRange> fields() const override {
    std::vector<PmRange> out;
    for (const Expression& e : what_.copies)
      for (const FieldRef& f : e.fields())
        if (f.place.size <= 8) addField(f, out);
    std::erase_if(out, [&](const PmRange& r) {
      return std::any_of(copies_.begin(), copies_.end(), [&](const PmRange& c) { return c.overlaps(r); });
    });
    return out;
  }
  std::vector<PmRange> areas() const override { return copies_; }

  void fieldStored(StoreNo) override { find(); }

  void beforeStore(StoreNo s) override {
    if (!update_) return;
    // An update that begins after the last one has reached another copy, or in another operation.
    bool again = copyOf(s) == 0 && update_->last != 0 && !update_->stores[0].empty();
    bool other = world_.operationBegin(s) != update_->operation;
    if (again || other) end();
  }

  void areaStored(StoreNo s) override {
    std::size_t copy = copyOf(s);
    if (copy == copies_.size()) return;
    if (world_.isSetUp(s)) return tag(s, Phase::Initialise, kNoTransaction);
    if (!update_) {
      update_.emplace();
      update_->number = open();
      update_->operation = world_.operationBegin(s);
      update_->stores.resize(copies_.size());
    }
    tag(s, copy == 0 ? Phase::Primary : Phase::Secondary, update_->number);
    update_->stores[copy].push_back(s);
    update_->last = copy;
    if (update_->late || !world_.changes(s)) return;
    for (std::size_t earlier = 0; earlier < copy; ++earlier)
      for (StoreNo first : update_->stores[earlier])
        if (!update_->late && world_.changes(first) && !world_.inOrder(first, s)) {
          broken(update_->number, Rule::Order, earlier == 0 ? Phase::Primary : Phase::Secondary, first,
                 Phase::Secondary, s);
          update_->late = true;
        }
    for (std::size_t later = copy + 1; later < copies_.size(); ++later)
      for (StoreNo second : update_->stores[later])
        if (!update_->late && world_.changes(second)) {
          broken(update_->number, Rule::Order, copy == 0 ? Phase::Primary : Phase::Secondary, s, Phase::Secondary,
                 second);
          update_->late = true;
        }
  }

  void finish() override {
    if (update_) end();
  }

 private:
  void find() {
    std::vector<PmRange> found;
    auto size = world_.evaluate(*what_.size, around_);
    for (const Expression& e : what_.copies) {
      auto at = world_.place(e, around_);
      if (!at || !size || *size == 0 || *size > kLargestCopy || offsetOf(*at) + *size > BLACKOUT_MAX_FILE_SIZE)
        return copies_.clear();
      found.push_back(PmRange::at(*at, *size));
    }
    copies_ = std::move(found);
  }
  std::size_t copyOf(StoreNo s) const {
    PmRange range = world_.rangeOf(s);
    std::size_t i = 0;
    while (i < copies_.size() && !copies_[i].overlaps(range)) ++i;
    return i;
  }

  // All copies hold the same after an update, and its checksum is a new one.
  void end() {
    std::vector<std::byte> first(copies_.empty() ? 0 : copies_[0].size()), other(first.size());
    if (!copies_.empty()) world_.read(copies_[0].begin, first);
    auto lastOf = [&](std::size_t copy) {
      return update_->stores[copy].empty() ? kNoStore : update_->stores[copy].back();
    };
    for (std::size_t i = 1; i < copies_.size(); ++i) {
      world_.read(copies_[i].begin, other);
      if (first == other) continue;
      StoreNo a = lastOf(0), b = lastOf(i);
      if (a == kNoStore) std::swap(a, b);
      broken(update_->number, Rule::CopiesDiffer, lastOf(0) != kNoStore ? Phase::Primary : Phase::Secondary, a,
             Phase::Secondary, b);
      break;
    }
    if (what_.checksum && !copies_.empty()) {
      PmRange sum = PmRange::at(copies_[0].begin + what_.checksum->place.offset, what_.checksum->place.size);
      StoreNo changed = kNoStore;
      bool summed = false;
      for (StoreNo s : update_->stores[0]) {
        summed |= world_.rangeOf(s).overlaps(sum);
        if (!world_.rangeOf(s).overlaps(sum) && world_.changes(s)) changed = s;
      }
      if (changed != kNoStore && !summed) broken(update_->number, Rule::ChecksumNotUpdated, Phase::Primary, changed);
    }
    update_.reset();
  }

  std::vector<PmRange> copies_;
  std::optional<CopyUpdate> update_;
};

}  // namespace

std::unique_ptr<Tracker> trackReplicas(World& world, Phases& phases, const MechanismDescription& what,
                                       MechanismNo number, TypedObject anchor) {
  return std::make_unique<Replicas>(world, phases, what, number, anchor);
}

}  // namespace blackout
