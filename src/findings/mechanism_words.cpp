#include "findings/mechanism_words.h"

namespace blackout {

std::string_view nameOf(MechanismPhase phase) {
  switch (phase) {
    case MechanismPhase::None:
      return "none";
    case MechanismPhase::Initialise:
      return "initialise";
    case MechanismPhase::Allocate:
      return "allocate";
    case MechanismPhase::Log:
      return "log";
    case MechanismPhase::Commit:
      return "commit";
    case MechanismPhase::InPlace:
      return "in-place";
    case MechanismPhase::Reclaim:
      return "reclaim";
    case MechanismPhase::Record:
      return "commit-record";
    case MechanismPhase::Append:
      return "append";
    case MechanismPhase::Publish:
      return "publish";
    case MechanismPhase::Primary:
      return "primary";
    case MechanismPhase::Secondary:
      return "secondary";
    case MechanismPhase::Build:
      return "build";
    case MechanismPhase::Swap:
      return "swap";
  }
  return {};
}

std::string_view nameOf(MechanismRule rule) {
  switch (rule) {
    case MechanismRule::Order:
      return "order";
    case MechanismRule::OutsideArea:
      return "outside-area";
    case MechanismRule::OutsideAllocated:
      return "outside-allocated";
    case MechanismRule::EntriesOverlap:
      return "entries-overlap";
    case MechanismRule::WrongOldBytes:
      return "wrong-old-bytes";
    case MechanismRule::WrongNewBytes:
      return "wrong-new-bytes";
    case MechanismRule::NeverInPlace:
      return "never-in-place";
    case MechanismRule::CopiesDiffer:
      return "copies-differ";
    case MechanismRule::ChecksumNotUpdated:
      return "checksum-not-updated";
    case MechanismRule::ChangedInPlace:
      return "changed-in-place";
  }
  return {};
}

}  // namespace blackout
