// Cures are tried before they are told. A cure that adds flushes and fences only narrows what crashes may leave, so it
// is tried without a run: the trace is indexed once more with the added events in it (model/inserted.h), and a restart
// that failed is still possible if some crash of the changed program can leave all that it had read. What can't be left
// any more is cured. Decision 0017.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "detect/by_site.h"
#include "findings/facts.h"
#include "judge/state_probe.h"
#include "model/inserted.h"

namespace blackout {

// Flushes and fences to be added, at every execution of the instructions in question.
struct Cure {
  bool flush = true;  // false: only a fence is missing
  // After these stores: their lines are flushed, and a fence completes it. If only a fence is missing: after these
  // flushes, or non-temporal stores.
  std::set<SiteKey> after;
  // The same once more before what relies on it is stored, or the next fence comes, so that it covers all that was
  // stored to these lines by then; none: not known.
  std::set<SiteKey> before;
  bool atOperationEnd = false;  // before the operation ends
  // For an instruction without a place: this event alone.
  std::optional<EventNo> event;
  // Where that is put: all of it, which asks whether order is what is missing; or as a change of the source would, only
  // after the ones, or only before the others.
  enum class Put : std::uint8_t { Everywhere, After, Before };
  Put put = Put::Everywhere;

  bool operator==(const Cure&) const = default;
};

// A cure after which no failing state of a cause is left, with what it adds to the recorded run.
struct TriedFix {
  Cure cure;
  std::uint64_t flushes = 0;
  std::uint64_t fences = 0;
};

// What a cure adds to a trace.
std::vector<InsertedEvent> insertedBy(const Cure& cure, const Index& index);

// An announced transaction in which a store was made to bytes that it had not logged: nobody puts them back, and
// nobody makes them durable.
struct Unlogged {
  EventNo begin = 0;  // of the transaction
  EventNo end = kNever;
};
std::optional<Unlogged> unloggedStore(const Index& index, StoreNo store);

class CureTrial {
 public:
  explicit CureTrial(StateProbe& probe) : probe_(probe), explorer_(probe.explorer()) {}

  // A cure applied to the trace in which the crash of the space comes.
  struct Applied {
    Cure cure;
    std::shared_ptr<const Index> index;
    unsigned level = 1;
    RecoveryNo through = 0;
    // What lines may hold in the changed program, by line and point.
    std::map<std::pair<TrackedNo, EventNo>, std::vector<LineBytes>> contents;
  };
  Result<std::shared_ptr<Applied>> apply(const Cure& cure, SpaceNo space);

  // Whether a crash of the changed program can lead to the recovery, which the space leads to. None: it can't be told,
  // because the crash comes in another run.
  std::optional<bool> leaves(Applied& applied, SpaceNo space, RecoveryNo recovery);

 private:
  EventNo sameAnswerSince(SpaceNo space, RecoveryNo recovery);
  bool leavesFurther(const Index& cured, SpaceNo space, const Told& told);
  const std::vector<LineBytes>& contents(Applied& applied, TrackedNo line, EventNo at);

  StateProbe& probe_;
  Explorer& explorer_;
  std::map<RecoveryNo, Told> told_;
};

}  // namespace blackout
