#include "judge/site_coverage.h"

#include <fmt/format.h>

#include <algorithm>

#include "events/site_table.h"
#include "events/trace.h"
#include "findings/numbers.h"
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

using Line = LinesReached::Line;

Line lineOf(const Source& source) {
  if (source.chain.empty()) return {};
  const Place& place = source.chain.front();
  return {place.file.substr(place.file.rfind('/') + 1), place.line};
}

}  // namespace

void LinesReached::add(const Trace& trace) {
  for (const LoadedModule& m : trace.modules())
    if (m.instrumented) programs_.insert(m.path);
  addStores(trace, false);
}

void LinesReached::add(const LinesReached& more) {
  reached_.insert(more.reached_.begin(), more.reached_.end());
  structs_.insert(more.structs_.begin(), more.structs_.end());
  programs_.insert(more.programs_.begin(), more.programs_.end());
}

void LinesReached::addRecovery(const Trace& trace) { addStores(trace, true); }

void LinesReached::addStores(const Trace& trace, bool recovery) {
  for (EventNo n = 0; n < trace.end(); n = trace.next(n)) {
    if (recovery && kindOf(trace[n]) == EventKind::OpBegin) return;
    if (!isStore(trace[n])) continue;
    const Site* site = trace.siteOf(trace[n]);
    if (site == nullptr || site->trapped) continue;
    if (!site->type.empty()) structs_.insert(structOf(site->type));
    for (const Source& source : site->sources) reached_.insert(lineOf(source));
  }
}

SiteCoverage LinesReached::coverage() const {
  std::set<Line> all;
  for (const std::string& program : programs_) {
    auto sites = readSiteTable(program);
    if (!sites) continue;
    for (const Site& site : *sites)
      if (stores(site.kind) && !site.type.empty() && structs_.contains(structOf(site.type)))
        for (const Source& source : site.sources)
          if (Line line = lineOf(source); line.second != 0) all.insert(std::move(line));
  }
  SiteCoverage out;
  out.places = all.size();
  for (const Line& line : all)
    if (reached_.contains(line))
      ++out.reached;
    else
      out.never.push_back(fmt::format("{}:{}", line.first, line.second));
  return out;
}

std::string neverReached(const SiteCoverage& coverage) {
  if (coverage.never.empty()) return {};
  constexpr std::size_t kNamed = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(coverage.never.size(), kNamed); ++i)
    names += (i == 0 ? "" : ", ") + coverage.never[i];
  if (coverage.never.size() > kNamed) names += fmt::format(" and {} more", coverage.never.size() - kNamed);
  return fmt::format(
      "The operations reached {} of {} that store to the structs in persistent memory; never reached: {}. "
      "Other operations may reach them (--corpus looks for some; --operations, --seed, --ops).",
      grouped(coverage.reached), counted(coverage.places, "line"), names);
}

}  // namespace blackout
