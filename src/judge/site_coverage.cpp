#include "judge/site_coverage.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "events/site_table.h"
#include "events/trace.h"
#include "infer/guardians.h"

namespace blackout {

namespace {

bool stores(SiteKind kind) {
  switch (kind) {
    case SiteKind::Store:
    case SiteKind::StoreNt:
    case SiteKind::Rmw:
    case SiteKind::CmpXchg:
    case SiteKind::Copy:
    case SiteKind::Fill:
      return true;
    default:
      return false;
  }
}

using Line = std::pair<std::string, std::uint32_t>;

Line lineOf(const Source& source) {
  if (source.chain.empty()) return {};
  const Place& place = source.chain.front();
  return {place.file.substr(place.file.rfind('/') + 1), place.line};
}

}  // namespace

SiteCoverage siteCoverage(const Trace& trace, const std::vector<std::string>& programs) {
  std::set<Line> reached;
  std::set<std::string> structs;  // that are in persistent memory
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    if (!isStore(trace[n])) continue;
    const Site* site = trace.siteOf(trace[n]);
    if (site == nullptr || site->trapped) continue;
    if (!site->type.empty()) structs.insert(structOf(site->type));
    for (const Source& source : site->sources) reached.insert(lineOf(source));
  }
  std::set<Line> all;
  for (const std::string& program : programs) {
    auto sites = readSiteTable(program);
    if (!sites) continue;
    for (const Site& site : *sites)
      if (stores(site.kind) && !site.type.empty() && structs.contains(structOf(site.type)))
        for (const Source& source : site.sources)
          if (Line line = lineOf(source); line.second != 0) all.insert(std::move(line));
  }
  SiteCoverage out;
  out.places = all.size();
  for (const Line& line : all)
    if (reached.contains(line))
      ++out.reached;
    else
      out.never.push_back(fmt::format("{}:{}", line.first, line.second));
  return out;
}

}  // namespace blackout
