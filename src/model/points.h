// The points of a trace at which a crash is worth looking at. docs/semantics.md, "Points that are
// enough".
#pragma once

#include <vector>

#include "events/site.h"
#include "model/interest.h"

namespace blackout {

enum class PointsMode { Enough, All };

// Collects the points that are enough while a trace is read. Regions of interest and their like (interest.h) restrict
// the points, never the model.
class PointCollector {
 public:
  // After event `n` was taken in. `narrows`: it guaranteed something new. `fileChange`: it changed
  // what a crash leaves of a file. Such a change is no store, but just as new: what it leaves must be
  // seen by a point after it.
  void event(EventNo n, const Event& e, bool narrows, bool fileChange);
  void finish(EventNo end);
  std::vector<EventNo> take() { return std::move(points_); }

 private:
  void add(EventNo point);
  void addInAnyCase(EventNo point);

  std::vector<EventNo> points_;
  WantedCrashes crashes_;
  // A store, an operation's end or a file's change has come since the last point. True at first: the
  // state from before the program is a state too. What comes where no crash is wanted is still news afterwards.
  bool news_ = true;
};

// Every point where a crash is wanted: before each event and at the end, except between the halves of one store.
std::vector<EventNo> allPoints(const Trace& trace);

}  // namespace blackout
