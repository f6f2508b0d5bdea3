// Which objects lie where in persistent memory, told by the stores of a trace: a store to "Bank.valid" says that a Bank
// begins so many bytes before it. So bytes that are stored by code which knows no type (a memcpy through a void
// pointer, code that Blackout did not compile) have a name too, if other code has one for the object. An address may be
// several things in turn (a union, a block that is used again): the latest store that says otherwise decides
// (Silhouette, 4.2.1). What nobody has a type for stays unknown.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "binary/byte_names.h"
#include "binary/struct_layouts.h"
#include "events/event.h"

namespace blackout {

struct TypedObject {
  LayoutNo layout = kNoLayout;
  PmAddr base = 0;
  auto operator<=>(const TypedObject&) const = default;
};

// An object with the part of the trace in which it was one.
struct ObjectLife {
  TypedObject object;
  EventNo learned = 0;  // from the store that said so
  EventNo from = 0;     // 0: nothing else was there before
  EventNo until{UINT32_MAX};
};

class TypedObjects {
 public:
  // Both must outlive it. Events are given in order.
  TypedObjects(const Trace& trace, const StructLayouts& layouts) : trace_(&trace), layouts_(&layouts) {}

  // An object that somebody says is there from the beginning.
  void declare(TypedObject object) { learn(object, 0); }
  // Learns what a store says, before it is asked for. Of a wide store, each piece may be given, or the first alone.
  void store(EventNo n);
  // The object that the bytes belong to.
  std::optional<TypedObject> at(PmAddr addr, std::uint64_t size) const;
  // What a store's bytes are called: what its instruction says, else what lies there; empty: unknown.
  std::string nameOf(EventNo n) const;

  // All objects so far, in the order in which they were learned; those inside others too, if a store named them.
  const std::vector<ObjectLife>& lives() const { return lives_; }

 private:
  // What a site says of the object around the bytes that it stores.
  struct SiteSays {
    bool read = false;
    LayoutNo layout = kNoLayout;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;  // of the field
    bool whole = false;      // the whole struct is stored
  };
  struct Segment {
    PmAddr end = 0;
    TypedObject object;
  };

  const SiteSays& says(SiteNo site);
  void learn(TypedObject object, EventNo at);
  void remember(TypedObject object, EventNo at, bool fresh);
  void forget(PmRange range, EventNo at);
  void cut(PmAddr at);

  const Trace* trace_;
  const StructLayouts* layouts_;
  IdVector<SiteNo, SiteSays> sites_;
  std::map<PmAddr, Segment> segments_;                 // by their begins; none overlap
  std::map<TypedObject, std::size_t> known_;           // objects that are there now, with their lives
  std::map<PmAddr, std::vector<TypedObject>> byBase_;  // the same
  std::vector<ObjectLife> lives_;
};

// All pieces of the wide store, or copy, that begins with this event.
PmRange executionRange(const Trace& trace, EventNo n);

// How many of a trace's stores have a name.
struct TypedCount {
  std::uint64_t bySite = 0;    // the instruction knows
  std::uint64_t byObject = 0;  // only what lies there does
  std::uint64_t unknown = 0;
};

}  // namespace blackout
