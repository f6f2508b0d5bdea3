#include "detect/site_objects.h"

#include <algorithm>

#include "events/site_table.h"

namespace blackout {

namespace {
constexpr std::size_t kSeveral = ~std::size_t{0};
}

SiteObjects::SiteObjects(const std::vector<std::string>& programs) : programs_(programs) {
  for (std::size_t i = 0; i < programs_.size(); ++i) {
    auto sites = readSiteTable(programs_[i]);
    if (!sites) continue;
    for (const Site& site : *sites) {
      auto [it, isNew] = objects_.try_emplace(site.id, i);
      if (!isNew && it->second != i) it->second = kSeveral;
    }
  }
}

const std::string* SiteObjects::of(std::uint64_t siteId) const {
  auto it = objects_.find(siteId);
  return it == objects_.end() || it->second == kSeveral ? nullptr : &programs_[it->second];
}

std::vector<std::string> instrumentedObjects(const Trace& trace) {
  std::vector<std::string> paths;
  for (const LoadedModule& m : trace.modules())
    if (m.instrumented && std::find(paths.begin(), paths.end(), m.path) == paths.end()) paths.push_back(m.path);
  return paths;
}

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

}  // namespace blackout
