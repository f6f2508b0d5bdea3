#include "model/interest.h"

#include <algorithm>

#include "events/trace.h"

namespace blackout {

bool WantedCrashes::event(EventKind kind) {
  if (complete_) return false;
  switch (kind) {
    case EventKind::RoiBegin: {
      bool first = !regionSeen_;
      regionSeen_ = inside_ = true;
      return first;
    }
    case EventKind::RoiEnd:
      if (regionSeen_) inside_ = false;
      break;
    case EventKind::SkipPointsBegin:
      ++skipped_;
      break;
    case EventKind::SkipPointsEnd:
      if (skipped_ > 0) --skipped_;
      break;
    case EventKind::Complete:
      complete_ = true;
      break;
    default:
      break;
  }
  return false;
}

Interest::Interest(const Trace& trace) : trace_(&trace), complete_(trace.end()) {
  using enum EventKind;
  if (trace.count(RoiBegin) + trace.count(SkipDetectionBegin) + trace.count(Complete) == 0) return;
  bool open = false;
  std::map<ThreadNo, std::uint32_t> depth;
  for (EventNo n = 0; n < complete_; n = trace.next(n)) {
    const Event& e = trace[n];
    switch (kindOf(e)) {
      case EventKind::RoiBegin:
      case EventKind::RoiEnd: {
        bool begins = kindOf(e) == EventKind::RoiBegin;
        if (begins == open) break;
        regions_.push_back(n);
        open = begins;
        anyRegion_ = true;
        break;
      }
      case EventKind::SkipDetectionBegin:
        if (depth[threadOf(e)]++ == 0) trusted_[threadOf(e)].push_back(n);
        break;
      case EventKind::SkipDetectionEnd:
        if (depth[threadOf(e)] > 0 && --depth[threadOf(e)] == 0) trusted_[threadOf(e)].push_back(n);
        break;
      case EventKind::Complete:
        complete_ = n;
        break;
      default:
        break;
    }
  }
}

// An odd number of bounds lie before it. A part that never ends has no second bound and needs none.
bool Interest::inside(const Bounds& bounds, EventNo n) {
  return (std::lower_bound(bounds.begin(), bounds.end(), n) - bounds.begin()) % 2 == 1;
}

bool Interest::contains(EventNo n) const {
  if (n >= complete_ || (anyRegion_ && !inside(regions_, n))) return false;
  if (trusted_.empty()) return true;
  auto it = trusted_.find(threadOf((*trace_)[n]));
  return it == trusted_.end() || !inside(it->second, n);
}

UnmatchedEnds unmatchedEnds(const Trace& trace) {
  UnmatchedEnds out;
  using enum EventKind;
  if (trace.count(RoiEnd) + trace.count(SkipPointsEnd) + trace.count(SkipDetectionEnd) == 0) return out;
  bool region = false;
  std::uint32_t skipped = 0;
  std::map<ThreadNo, std::uint32_t> trusted;
  auto end = [](std::uint32_t& depth, std::uint64_t& unmatched) {
    if (depth > 0)
      --depth;
    else
      ++unmatched;
  };
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    const Event& e = trace[n];
    switch (kindOf(e)) {
      case EventKind::RoiBegin:
        region = true;
        break;
      case EventKind::RoiEnd:
        if (!region) ++out.regions;
        region = false;
        break;
      case EventKind::SkipPointsBegin:
        ++skipped;
        break;
      case EventKind::SkipPointsEnd:
        end(skipped, out.skippedCrashes);
        break;
      case EventKind::SkipDetectionBegin:
        ++trusted[threadOf(e)];
        break;
      case EventKind::SkipDetectionEnd:
        end(trusted[threadOf(e)], out.skippedDetection);
        break;
      default:
        break;
    }
  }
  return out;
}

}  // namespace blackout
