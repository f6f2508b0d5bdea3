// What follows one instance of a described mechanism through a trace: it is told of stores to its fields and its area,
// tags stores and says which rules are broken. One class for each kind of mechanism.
#pragma once

#include <memory>

#include "mechanisms/world.h"

namespace blackout {

class Tracker {
 public:
  Tracker(World& world, Phases& phases, const MechanismDescription& what, MechanismNo number, TypedObject anchor)
      : world_(world), phases_(phases), what_(what), number_(number), around_{anchor, {}, kNoLayout, {}} {}
  virtual ~Tracker() = default;

  // Bytes that it wants to hear of.
  virtual std::vector<PmRange> fields() const = 0;
  // The same as far as it depends on what memory holds; asked for again after every store to its fields.
  virtual std::vector<PmRange> areas() const { return {}; }

  // A store to its fields, or to its areas, before and after it takes effect.
  virtual void beforeStore(StoreNo) {}
  virtual void fieldStored(StoreNo s) = 0;
  virtual void areaStored(StoreNo) {}
  virtual void finish() {}

  const MechanismDescription& description() const { return what_; }
  MechanismNo mechanism() const { return number_; }

 protected:
  TransactionNo open() {
    phases_.transactions.push_back({number_, false});
    return phases_.transactions.endId() - 1;
  }
  void tag(StoreNo s, MechanismPhase phase, TransactionNo transaction) {
    if (phases_.tags[s].phase == MechanismPhase::None) phases_.tags[s] = {phase, number_, transaction};
  }
  bool untagged(StoreNo s) const { return phases_.tags[s].phase == MechanismPhase::None; }
  void broken(TransactionNo transaction, MechanismRule rule, MechanismPhase firstPhase, StoreNo first,
              MechanismPhase secondPhase = MechanismPhase::None, StoreNo second = kNoStore) {
    phases_.violations.push_back({number_, transaction, rule, firstPhase, secondPhase, first, second});
    if (transaction != kNoTransaction) phases_.transactions[transaction].broken = true;
  }
  // The fields of the anchor, or of something that there is one of, whose values an expression has.
  void addFields(const Expression& e, std::vector<PmRange>& out) const {
    for (const FieldRef& f : e.fields()) addField(f, out);
  }
  void addField(const FieldRef& f, std::vector<PmRange>& out) const {
    FieldRef whole = f;
    if (f.place.stride != 0) {
      whole.place.offset = f.place.array;
      whole.place.size = f.place.count == UINT64_MAX ? 0 : f.place.stride * f.place.count;
      whole.place.stride = 0;
    }
    if (auto at = world_.addressOf(whole, around_); at && whole.place.size != 0)
      out.push_back(PmRange::at(*at, whole.place.size));
  }

  World& world_;
  Phases& phases_;
  const MechanismDescription& what_;
  MechanismNo number_;
  Around around_;
};

std::unique_ptr<Tracker> trackJournal(World&, Phases&, const MechanismDescription&, MechanismNo, TypedObject anchor);
std::unique_ptr<Tracker> trackLog(World&, Phases&, const MechanismDescription&, MechanismNo, TypedObject anchor);
std::unique_ptr<Tracker> trackReplicas(World&, Phases&, const MechanismDescription&, MechanismNo, TypedObject anchor);
std::unique_ptr<Tracker> trackCopyOnWrite(World&, Phases&, const MechanismDescription&, MechanismNo,
                                          TypedObject anchor);

}  // namespace blackout
