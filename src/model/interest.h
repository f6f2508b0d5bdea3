// What a program asks to be looked at (blackout.h): regions of interest, parts without crashes, parts that are trusted,
// and the end of it all. An end without its begin does nothing, and a mark after the completion does nothing either.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "events/site.h"

namespace blackout {

// Where a crash is wanted, while a trace is read: inside the region of interest if there is one, outside of parts that
// are skipped, up to the completion. A crash comes before its event, so wanted() is asked first and the event told
// then.
class WantedCrashes {
 public:
  bool wanted() const { return inside_ && skipped_ == 0 && !complete_; }
  // True: the first region of interest begins, so no crash before it is wanted after all.
  bool event(EventKind kind);

 private:
  bool inside_ = true;
  bool regionSeen_ = false;
  bool complete_ = false;
  std::uint32_t skipped_ = 0;  // depth
};

// Of which events a trace detector may speak: those inside the region of interest (without one, all), up to the
// completion, and outside of what their thread trusts.
class Interest {
 public:
  // The trace must outlive it.
  explicit Interest(const Trace& trace);
  bool contains(EventNo n) const;

 private:
  using Bounds = std::vector<EventNo>;  // begin, end, begin, end ...
  static bool inside(const Bounds& bounds, EventNo n);

  const Trace* trace_;
  Bounds regions_;
  bool anyRegion_ = false;
  EventNo complete_;                    // events from here on are of no interest
  std::map<ThreadNo, Bounds> trusted_;  // the outermost of nested parts
};

// Ends without their begin: calls that did nothing.
struct UnmatchedEnds {
  std::uint64_t regions = 0;
  std::uint64_t skippedCrashes = 0;
  std::uint64_t skippedDetection = 0;
};
UnmatchedEnds unmatchedEnds(const Trace& trace);

}  // namespace blackout
