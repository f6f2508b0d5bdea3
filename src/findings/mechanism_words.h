// The words for what belongs to a consistency mechanism: phases of a transaction, and rules that it may break. Claims
// have them as data.
#pragma once

#include <cstdint>
#include <string_view>

namespace blackout {

enum class MechanismPhase : std::uint8_t {
  None,
  Initialise,  // of the mechanism itself, before anything relies on it
  // journals
  Allocate,
  Log,
  Commit,
  InPlace,
  Reclaim,
  Record,  // an entry that says that its transaction is done, or counts
  // logs
  Append,
  Publish,
  // replicas
  Primary,
  Secondary,
  // copy-on-write
  Build,
  Swap,
};
std::string_view nameOf(MechanismPhase phase);  // "in-place"

enum class MechanismRule : std::uint8_t {
  Order,             // the first is not durable before the second is stored
  OutsideArea,       // an entry, or a head or tail, lies outside the log's area
  OutsideAllocated,  // an entry lies outside [head, tail)
  EntriesOverlap,
  WrongOldBytes,  // an undo entry does not have the bytes from before the write in place
  WrongNewBytes,  // a redo entry does not have the bytes that are written in place
  NeverInPlace,   // what was logged is not written in place
  CopiesDiffer,
  ChecksumNotUpdated,
  ChangedInPlace,  // what a pointer leads to is changed, and not a copy of it
};
std::string_view nameOf(MechanismRule rule);  // "order"

}  // namespace blackout
