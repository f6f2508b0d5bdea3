#include "report/places.h"

#include <algorithm>

#include "binary/site_objects.h"
#include "binary/symbolizer.h"

namespace blackout {

namespace {

// Names the program file in those calls that have none.
void nameObjects(Report& report, const SiteObjects& objects) {
  for (Finding& f : report.findings)
    for (NumberedPlace& p : f.places) {
      const std::string* object = objects.of(p.siteId);
      if (object == nullptr) continue;
      auto name = [&](Frame& frame) {
        if (!frame.module.empty()) return false;
        frame.module = *object;
        return true;
      };
      // The instruction's own calls come first; they end where the one begins that is not inlined.
      for (Frame& frame : p.stack) {
        bool inlined = frame.inlined;
        if (!name(frame) || !inlined) break;
      }
      for (std::vector<Frame>& frames : p.alsoFrom) std::for_each(frames.begin(), frames.end(), name);
    }
}

}  // namespace

void resolvePlaces(Report& report, const Trace& trace) {
  if (report.findings.empty()) return;
  Symbolizer symbolizer(trace);
  for (Finding& f : report.findings)
    for (NumberedPlace& p : f.places) {
      if (!p.stack.empty()) continue;
      p.stack = symbolizer.stackOf(p.where);
      p.alsoFrom = symbolizer.mergedWith(p.where);
    }
  nameObjects(report, SiteObjects(instrumentedObjects(trace)));
}

}  // namespace blackout
