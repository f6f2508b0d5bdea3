// Grouping by the instruction that an event comes from: which events are one site's, how often a
// site was executed, and the place of a finding that is about it.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "detect/relevance.h"
#include "findings/finding.h"

namespace blackout {

// A site by its id, which is the same in any build of the same source; where the recorder did not
// know the place, all events of one kind together.
struct SiteKey {
  bool known = false;
  std::uint64_t id = 0;
  auto operator<=>(const SiteKey&) const = default;
};
SiteKey siteKey(const Trace& trace, const Event& e);

// The pieces of a wide store are one execution of their instruction: for each store, its first piece.
IdVector<StoreNo, StoreNo> executionsOf(const Index& index);

// For each store, the bytes of its line, as a mask, that it gave another value. Kept as a mask of the store's own
// bytes, of which there are 16 at the most: a long trace has a store in every second event.
class ChangedBytes {
 public:
  ChangedBytes() = default;
  explicit ChangedBytes(const Index& index);
  std::uint64_t operator[](StoreNo s) const;

 private:
  const Index* index_ = nullptr;
  IdVector<StoreNo, std::uint16_t> own_;
};

enum class AccessClass { Store, Flush, Fence };

// How often each site was executed inside the regions, by events of one class.
class Executions {
 public:
  Executions(const Trace& trace, const Interest& interest, AccessClass wanted);
  std::uint64_t of(SiteKey key) const;

 private:
  std::map<SiteKey, std::uint64_t> counts_;
};

// The place of an event, with what it does even where the site is unknown.
NumberedPlace placeOfEvent(const Trace& trace, std::string label, EventNo n);

// The function that holds an event's instruction, inlined ones taken as part of their caller; empty: unknown.
std::string functionOf(const Trace& trace, const Event& e);

// The last event before `at` that has a place: where a crash is shown.
std::optional<EventNo> lastPlaceBefore(const Trace& trace, EventNo at);

AffectedBytes affected(const Trace& trace, PmAddr addr, std::uint64_t size, const Event& e);

// What a store of a trace wrote. `level`: of the crash in whose trace it stands; `under`: what its line held before
// that trace, if it is no recording's.
SeenStore seenStore(const Index& index, StoreNo store, unsigned level, PlaceNo place, const LineBytes* under = nullptr);

// Adds an example unless there are enough or it is there already. A further piece of the last one's store
// makes that one longer.
void addExample(Finding& finding, AffectedBytes example, bool furtherPiece = false);

}  // namespace blackout
