// Copy-on-write: what a pointer leads to is never changed; a changed copy is built where nothing leads, and when it is
// durable one store makes the pointer lead to it. The pointer may be a number, a version say, of which an expression
// makes the address; and what it leads to may be a tree, of which a path of nodes is copied.
#include <algorithm>
#include <map>
#include <set>

#include "events/trace.h"
#include "mechanisms/tracker.h"

namespace blackout {

namespace {

using Phase = MechanismPhase;
using Rule = MechanismRule;

constexpr std::uint64_t kLargestObject = std::uint64_t{1} << 24;
constexpr std::size_t kMostObjects = 1 << 16;

class CopyOnWrite : public Tracker {
 public:
  CopyOnWrite(World& world, Phases& phases, const MechanismDescription& what, MechanismNo number, TypedObject anchor)
      : Tracker(world, phases, what, number, anchor) {
    if (auto size = world_.evaluate(*what_.size, around_); size && *size != 0 && *size <= kLargestObject) size_ = *size;
  }

  std::vector<PmRange> fields() const override {
    std::vector<PmRange> out;
    addField(*what_.pointer, out);
    return out;
  }
  std::vector<PmRange> areas() const override {
    std::vector<PmRange> out;
    for (PmAddr at : live_) out.push_back(PmRange::at(at, size_));
    return out;
  }

  void fieldStored(StoreNo s) override {
    PmRange range = world_.rangeOf(s);
    std::optional<PmAddr> target = targetBy(range.begin);
    // Set-up builds what it likes, and leaves something that counts.
    if (size_ == 0 || !target || world_.isSetUp(s)) {
      tag(s, Phase::Initialise, kNoTransaction);
      if (target && size_ != 0) leadsNow(range.begin, *target, reachable(*target, 0, s));
      return;
    }
    TransactionNo transaction = open();
    tag(s, Phase::Swap, transaction);
    StoreNo from = last_ == kNoStore ? StoreNo(0) : last_ + 1;
    if (auto begin = world_.operationBegin(s)) from = *begin;
    std::set<PmAddr> built = reachable(*target, from, s);
    std::vector<StoreNo> stores;
    for (PmAddr at : built)
      for (StoreNo b : world_.storesTo(PmRange::at(at, size_), from, s)) stores.push_back(b);
    std::sort(stores.begin(), stores.end());
    bool late = false;
    for (StoreNo b : stores) {
      if (!untagged(b)) continue;
      tag(b, Phase::Build, transaction);
      if (late || !world_.changes(b) || world_.inOrder(b, s)) continue;
      broken(transaction, Rule::Order, Phase::Build, b, Phase::Swap, s);
      late = true;
    }
    leadsNow(range.begin, *target, built);
    swap_ = s;
    swapped_ = transaction;
    last_ = s;
  }

  // A store to what counts.
  void areaStored(StoreNo s) override {
    if (!world_.changes(s) || world_.isSetUp(s)) return;
    PmRange range = world_.rangeOf(s);
    auto it = live_.upper_bound(range.begin);
    if (it == live_.begin()) return;
    PmAddr object = *std::prev(it);
    if (!isLive(object)) {
      live_.erase(object);
      return;
    }
    bool sameOperation =
        swap_ != kNoStore && world_.operationBegin(s) && world_.operationBegin(s) == world_.operationBegin(swap_);
    if (sameOperation) {
      // It was swapped in before it was complete.
      broken(swapped_, Rule::Order, Phase::Build, s, Phase::Swap, swap_);
    } else {
      // All of one operation are one update.
      std::optional<StoreNo> operation = world_.operationBegin(s);
      if (changed_ == kNoTransaction || !operation || operation != changedIn_) changed_ = open();
      changedIn_ = operation;
      tag(s, Phase::Build, changed_);
      broken(changed_, Rule::ChangedInPlace, Phase::Build, s);
    }
  }

 private:
  // The pointer, or this element of an array of pointers, leads there from now on. Of numbers the last one counts,
  // whichever object has it.
  void leadsNow(PmAddr pointer, PmAddr target, const std::set<PmAddr>& objects) {
    world_.lastPublished(number_) = target;
    if (what_.links.empty()) {
      targets_[what_.target ? 0 : pointer] = target;
      live_.clear();
      for (const auto& [by, at] : targets_) live_.insert(at);
    } else {
      live_.insert(objects.begin(), objects.end());
    }
  }

  // What the pointer leads to, or the element of an array of pointers.
  std::optional<PmAddr> targetBy(PmAddr element) const {
    Around around = around_;
    around.element = element;
    if (what_.target) return world_.place(*what_.target, around);
    auto value = world_.valueOf(*what_.pointer, around);
    if (!value || *value == 0) return std::nullopt;
    return world_.resolve(*value, fileOf(around_.anchor.base));
  }

  // The object and those that it leads to, as far as they were stored to in [from, to).
  std::set<PmAddr> reachable(PmAddr root, StoreNo from, StoreNo to) const {
    std::set<PmAddr> seen{root};
    std::vector<PmAddr> left{root};
    while (!left.empty() && seen.size() < kMostObjects) {
      PmAddr at = left.back();
      left.pop_back();
      for (PmAddr next : leadsTo(at))
        if (!seen.contains(next) && !world_.storesTo(PmRange::at(next, size_), from, to).empty()) {
          seen.insert(next);
          left.push_back(next);
        }
    }
    return seen;
  }
  std::vector<PmAddr> leadsTo(PmAddr object) const {
    std::vector<PmAddr> out;
    for (const FieldRef& link : what_.links) {
      std::uint64_t count = link.place.stride == 0 ? 1 : std::min<std::uint64_t>(link.place.count, 4096);
      for (std::uint64_t i = 0; i < count; ++i) {
        std::uint64_t value = world_.number(object + link.place.offset + i * link.place.stride, link.place.size);
        if (value == 0) continue;
        if (auto next = world_.resolve(value, fileOf(around_.anchor.base))) out.push_back(*next);
      }
    }
    return out;
  }

  // Whether the pointer still leads there.
  bool isLive(PmAddr object) const {
    if (what_.target && world_.lastPublished(number_) != object) return false;
    if (what_.links.empty()) return true;
    auto root = targetBy(rootElement());
    if (!root) return false;
    std::set<PmAddr> seen{*root};
    std::vector<PmAddr> left{*root};
    while (!left.empty() && seen.size() < kMostObjects) {
      PmAddr at = left.back();
      left.pop_back();
      if (at == object) return true;
      for (PmAddr next : leadsTo(at))
        if (seen.insert(next).second) left.push_back(next);
    }
    return seen.contains(object);
  }
  PmAddr rootElement() const { return around_.anchor.base + what_.pointer->place.offset; }

  std::uint64_t size_ = 0;
  std::map<PmAddr, PmAddr> targets_;  // by pointer; of what is no tree
  std::set<PmAddr> live_;             // objects that count; some of a tree that do no more
  StoreNo swap_ = kNoStore;
  TransactionNo swapped_ = kNoTransaction;
  StoreNo last_ = kNoStore;
  TransactionNo changed_ = kNoTransaction;  // in place, and by which operation
  std::optional<StoreNo> changedIn_;
};

}  // namespace

std::unique_ptr<Tracker> trackCopyOnWrite(World& world, Phases& phases, const MechanismDescription& what,
                                          MechanismNo number, TypedObject anchor) {
  return std::make_unique<CopyOnWrite>(world, phases, what, number, anchor);
}

}  // namespace blackout
