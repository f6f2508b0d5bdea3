// The failing state whose cause is looked for, while it is looked for (cause_naming.h): what it loses, what its restart
// read, from which stores that came, and what is known of the cause so far. Those who name causes share it.
#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "judge/cause_naming.h"

namespace blackout {

class ExaminedState {
 public:
  // All must outlive it.
  ExaminedState(StateProbe& stateProbe, const WholeFailures& wholeFailures, const NamingOptions& namingOptions);

  Result<void> become(SpaceNo space, RecoveryNo recovery, const ChosenVersions& chosen);
  // As few lost stores as possible: one line after the other persists as long as the restart fails in the same way.
  Result<void> makeSmall();
  // Sees what the state loses by now, and what its restart reads.
  Result<void> look();

  unsigned level() const { return explorer.space(cause.space).level; }
  const Index& indexOf(const StoreRef& ref) const { return *indexes[ref.level - 1]; }
  EventNo eventOf(const StoreRef& ref) const { return indexOf(ref).stores()[ref.store].event; }
  TrackedNo lineOf(const StoreRef& ref) const {
    const Index& index = indexOf(ref);
    return probe.tracked().find(index.lineNo(index.stores()[ref.store].line));
  }
  // That of the store that is lost.
  TrackedNo lostLine() const { return lineOf(*cause.first); }

  // For every 8 bytes that the recovery read, the store that they came from, if it is of the crash's own run.
  std::set<StoreRef> survivors() const;
  // The bytes of a line of which something is lost that the restart read and that are not what everything persisted
  // would leave.
  std::uint64_t missedBytes(TrackedNo w);
  bool overlap(const StoreRef& a, const StoreRef& b) const;

  // Whether it ends well in such a state without these stores, and with that one.
  Result<bool> fine(const ChosenVersions& chosen, std::span<const StoreRef> removed,
                    const std::optional<StoreRef>& with);
  // Everything persisted at a crash of the same run.
  ChosenVersions wholeAt(SpaceNo space) { return probe.wholeAt(space, cause.space, cause.chosen); }

  StateProbe& probe;
  Explorer& explorer;
  const WholeFailures& whole;
  const NamingOptions& options;
  Cause cause;
  std::vector<const Index*> indexes;
  RecoveryDetail detail;
  std::map<TrackedNo, std::uint64_t> read;  // which bytes of each line the recovery read
};

}  // namespace blackout
