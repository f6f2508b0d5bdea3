#include "model/points.h"

namespace blackout {

void PointCollector::add(EventNo point) {
  if (!news_ || !inside_) return;
  points_.push_back(point);
  news_ = false;
}

void PointCollector::event(EventNo n, const Event& e, bool narrows, bool fileChange) {
  // A point is before the event, so what the event itself brings is news for the next one.
  if (narrows || fileChange) add(n);
  if (isStore(e) || fileChange) {
    news_ = true;
    return;
  }
  switch (kindOf(e)) {
    case EventKind::OpBegin:
      add(n);
      break;
    case EventKind::OpEnd:
      news_ = true;
      break;
    case EventKind::RoiBegin:
      // The first region makes all that was before it outside.
      if (!regionSeen_ && !points_.empty()) {
        points_.clear();
        news_ = true;
      }
      regionSeen_ = true;
      inside_ = true;
      break;
    case EventKind::RoiEnd:
      add(n);  // the region's own end
      inside_ = false;
      break;
    default:
      break;
  }
}

void PointCollector::finish(EventNo end) { add(end); }

std::vector<EventNo> allPoints(const Trace& trace) {
  std::vector<EventNo> points;
  bool inside = true;
  bool regionSeen = false;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    if (inside) points.push_back(n);
    const Event& e = trace[n];
    if (kindOf(e) == EventKind::RoiBegin) {
      if (!regionSeen) points.clear();
      regionSeen = inside = true;
    } else if (kindOf(e) == EventKind::RoiEnd) {
      inside = false;
    } else if (isStore(e) && (e.len & BLACKOUT_JOINED) != 0) {
      ++n;  // the other half
    }
  }
  if (inside) points.push_back(trace.end());
  return points;
}

}  // namespace blackout
