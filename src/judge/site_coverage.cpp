#include "judge/site_coverage.h"

#include <fmt/format.h>

#include <algorithm>

#include "events/byte_stream.h"
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

void encode(ByteWriter& out, const LinesReached& reached) {
  out.number(reached.reached_.size());
  for (const auto& [file, line] : reached.reached_) {
    out.text(file);
    out.number(line);
  }
  for (const std::set<std::string>* names : {&reached.structs_, &reached.programs_}) {
    out.number(names->size());
    for (const std::string& name : *names) out.text(name);
  }
}

LinesReached decodeLinesReached(ByteReader& in) {
  LinesReached reached;
  for (std::size_t n = in.count(2); n > 0; --n) {
    std::string file = in.text();
    reached.reached_.emplace(std::move(file), in.small());
  }
  for (std::set<std::string>* names : {&reached.structs_, &reached.programs_})
    for (std::size_t n = in.count(); n > 0; --n) names->insert(in.text());
  return reached;
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

LinesReached::StoringLines LinesReached::storingLines(const std::set<std::string>& programs) {
  StoringLines all;
  for (const std::string& program : programs) {
    auto sites = readSiteTable(program);
    if (!sites) continue;
    for (const Site& site : *sites)
      if (stores(site.kind) && !site.type.empty())
        for (const Source& source : site.sources)
          if (Line line = lineOf(source); line.second != 0) all.emplace(std::move(line), structOf(site.type));
  }
  return all;
}

SiteCoverage LinesReached::coverage(const StoringLines& stored) const {
  std::set<Line> all;
  for (const auto& [line, name] : stored)
    if (structs_.contains(name)) all.insert(line);
  SiteCoverage out;
  out.places = all.size();
  for (const Line& line : all)
    if (reached_.contains(line))
      ++out.reached;
    else
      out.never.push_back(fmt::format("{}:{}", line.first, line.second));
  return out;
}

std::string neverReached(const SiteCoverage& coverage, bool generated) {
  if (coverage.never.empty()) return {};
  constexpr std::size_t kNamed = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(coverage.never.size(), kNamed); ++i)
    names += (i == 0 ? "" : ", ") + coverage.never[i];
  if (coverage.never.size() > kNamed) names += fmt::format(" and {} more", coverage.never.size() - kNamed);
  return fmt::format("{} reached {} of {} that store to the structs in persistent memory; never reached: {}. {}",
                     generated ? "The operations" : "The recorded run", grouped(coverage.reached),
                     counted(coverage.places, "line"), names,
                     generated
                         ? "Other operations may reach them (--corpus looks for some; --operations, --seed, --ops)."
                         : "What was not reached was not tested: other arguments or input may reach it.");
}

}  // namespace blackout
