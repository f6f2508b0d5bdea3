#include "model/points.h"

#include "events/trace.h"

namespace blackout {

void PointCollector::addInAnyCase(EventNo point) {
  if (!crashes_.wanted()) return;
  points_.push_back(point);
  news_ = false;
}

void PointCollector::add(EventNo point) {
  if (news_) addInAnyCase(point);
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
    case EventKind::ExtraPoint:
      addInAnyCase(n);
      break;
    case EventKind::RoiEnd:
    case EventKind::SkipPointsBegin:
    case EventKind::Complete:
      add(n);  // the last moment at which a crash is wanted
      break;
    default:
      break;
  }
  // The first region makes all that was before it outside.
  if (crashes_.event(kindOf(e)) && !points_.empty()) {
    points_.clear();
    news_ = true;
  }
}

void PointCollector::finish(EventNo end) { add(end); }

std::vector<EventNo> allPoints(const Trace& trace) {
  std::vector<EventNo> points;
  WantedCrashes crashes;
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    if (crashes.wanted()) points.push_back(n);
    const Event& e = trace[n];
    if (crashes.event(kindOf(e))) points.clear();
    if (isStore(e) && (e.len & BLACKOUT_JOINED) != 0) ++n;  // the other half
  }
  if (crashes.wanted()) points.push_back(trace.end());
  return points;
}

}  // namespace blackout
