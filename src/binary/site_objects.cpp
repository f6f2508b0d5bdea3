#include "binary/site_objects.h"

#include <algorithm>

#include "events/site_table.h"
#include "events/trace.h"

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

}  // namespace blackout
