// What relies on a lost store: the surviving stores without which the failure is gone, found by restarts on states that
// differ in them; and, where no restart tells, what the trace says of what came after it.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "judge/examined_state.h"

namespace blackout {

class Reliance {
 public:
  // When it is asked, the state's cause has its `first`: the lost store.
  explicit Reliance(ExaminedState& state) : s_(state), cause_(state.cause) {}

  enum class Relation : std::uint8_t {
    None,      // nothing is known to lead there
    Order,     // `second` (and `others`) rely on the lost store
    Together,  // neither can be without the other
  };
  // Sets `second`, and `others` if it takes several stores to lead there.
  Result<Relation> findRelated();
  // Whether all of them are one execution of one instruction: nothing but itself comes in between.
  bool oneExecution(const std::vector<StoreRef>& all) const;
  // Whether a crash may leave the lost store without the other one, and fails then too.
  Result<bool> mirrorFails(const StoreRef& other);
  // If no test told: the store after the lost one that the recovery read last before it met that.
  std::optional<StoreRef> settledSurvivor();
  // A crash in the same operation, or in a restart as well, that fails with nothing lost.
  std::optional<SpaceNo> cutElsewhere() const;
  // Where the operation that made the lost store ended, if the recovery knew that it had, or is judged by that.
  std::optional<EventNo> operationEnd() const;
  // Of the surviving stores that the recovery read, the last one before a store and the first one after it.
  std::pair<std::optional<StoreRef>, std::optional<StoreRef>> around(const StoreRef& store) const;

 private:
  // When the recovery read what a store wrote: how long before it met the lost bytes, or how long after.
  std::pair<bool, std::size_t> readDistance(const StoreRef& ref) const;
  // The stores that may rely on the lost one, the likeliest first: those that came later, by how directly they led the
  // recovery to the lost bytes; then those before it, the nearest first, of the same operation.
  std::vector<StoreRef> candidates() const;
  // Whether crashes between the two, with everything persisted, end well, and something else was made durable in
  // between: then the earlier one does not rely on the other. Where the program says how far it is in a pool, what says
  // that the pool is there is such a store. (Answers are judged only where something races, so there that a crash ends
  // well says little.)
  bool livedWithout(const StoreRef& earlier, const StoreRef& lost) const;
  // Whether the lost store's instruction is executed once more, in another stretch between fences, and the other one is
  // not: what relies on a store comes with it each time.
  bool unpaired(const StoreRef& earlier, const StoreRef& lost) const;
  // It takes several: as few as possible, of those that came later if that is enough.
  Result<Relation> findSeveral(std::vector<StoreRef> all);
  // Whether it ends well with the lost store and without these: so they can wait for it.
  Result<bool> canWait(std::span<const StoreRef> stores);

  ExaminedState& s_;
  Cause& cause_;
};

}  // namespace blackout
