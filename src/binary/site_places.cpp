#include "binary/site_places.h"

#include <fmt/format.h>

#include "events/site_table.h"
#include "events/trace.h"

namespace blackout {

std::string shortPlace(const Site& site) {
  if (site.sources.empty() || site.sources.front().chain.empty()) return {};
  const Place& p = site.sources.front().chain.front();
  return p.file.empty() ? std::string() : fmt::format("{}:{}", p.file.substr(p.file.rfind('/') + 1), p.line);
}

SitePlaces::SitePlaces(const std::vector<std::string>& programs) {
  for (const std::string& program : programs)
    if (auto sites = readSiteTable(program))
      for (const Site& site : *sites) places_.try_emplace(site.id, shortPlace(site));
}

std::string SitePlaces::at(std::uint64_t id) const {
  auto it = places_.find(id);
  return it == places_.end() ? std::string() : it->second;
}

std::string shortPlace(const Trace& trace, StackId where) {
  const CallStack* w = trace.callStack(where);
  const Site* site = w == nullptr ? nullptr : trace.site(w->site);
  return site == nullptr ? std::string() : shortPlace(*site);
}

}  // namespace blackout
