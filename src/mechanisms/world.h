// A program's persistent memory while its trace is read, as descriptions speak of it: objects, fields, what expressions
// give. No cache is simulated: what is durable when, the index knows.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "mechanisms/description.h"
#include "mechanisms/phases.h"
#include "model/files_at_end.h"

namespace blackout {

// Where an expression is evaluated: around an object, and for an entry of a journal inside that.
struct Around {
  TypedObject anchor;
  std::optional<PmAddr> element;     // the entry, or the element of an array
  LayoutNo elementType = kNoLayout;  // of a struct with a name
  std::optional<PmRange> ring;       // an entry that reaches over its end goes on at its beginning
};

class World {
 public:
  World(const Index& index, const StructLayouts& layouts, const std::vector<ObjectLife>& lives);

  const Index& index() const { return index_; }
  const Trace& trace() const { return index_.trace(); }
  const StructLayouts& layouts() const { return layouts_; }

  // Takes an event; what a store's bytes held before it is kept.
  void event(EventNo n, StoreNo store);
  void before(StoreNo s, std::span<std::byte> bytes) const;
  void after(StoreNo s, std::span<std::byte> bytes) const;
  PmRange rangeOf(StoreNo s) const;
  bool changes(StoreNo s) const;

  // Objects of a type that were there at the event.
  std::vector<PmAddr> objectsOf(LayoutNo layout, EventNo at) const;
  const std::vector<ObjectLife>& livesOf(LayoutNo layout) const;

  std::uint64_t number(PmAddr at, std::uint64_t size) const;
  void read(PmAddr at, std::span<std::byte> bytes, const std::optional<PmRange>& ring = std::nullopt) const;

  std::optional<PmAddr> addressOf(const FieldRef& field, const Around& around) const;
  std::optional<std::uint64_t> valueOf(const FieldRef& field, const Around& around) const;
  std::optional<std::uint64_t> evaluate(const Expression& e, const Around& around) const;
  // The same for an address.
  std::optional<PmAddr> place(const Expression& e, const Around& around) const;
  std::optional<PmAddr> resolve(std::uint64_t value, FileNo home) const;

  // Stores to the bytes with numbers in [from, to), ascending.
  std::vector<StoreNo> storesTo(PmRange range, StoreNo from, StoreNo to) const;
  // The first store after the begin of the operation that a store belongs to; none: it belongs to none.
  std::optional<StoreNo> operationBegin(StoreNo s) const;
  // One behind the last store of that operation.
  std::optional<StoreNo> operationEnd(StoreNo s) const;
  // Whether operations are marked and the store belongs to none: the set-up of things.
  bool isSetUp(StoreNo s) const;

  // Whether no crash can leave the second store without the first.
  bool inOrder(StoreNo first, StoreNo second) const;

  // What was published last by any instance of a mechanism.
  PmAddr& lastPublished(MechanismNo mechanism) { return published_[mechanism]; }

  EventNo now() const { return now_; }
  StoreNo firstStoreAfter(EventNo n) const;
  ThreadNo threadOf(StoreNo s) const;

 private:
  struct Mapping {
    std::uint64_t end = 0;
    PmAddr at = 0;
  };

  const Index& index_;
  const StructLayouts& layouts_;
  std::map<LayoutNo, std::vector<ObjectLife>> lives_;
  Replay memory_;
  std::map<std::uint64_t, Mapping> mappings_;  // by virtual address
  IdVector<StoreNo, std::array<std::uint64_t, 2>> before_;
  std::map<MechanismNo, PmAddr> published_;
  EventNo now_ = 0;
};

}  // namespace blackout
