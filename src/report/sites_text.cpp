#include "report/sites_text.h"

#include <fmt/format.h>

#include "binary/symbolizer.h"
#include "report/escape.h"
#include "report/json.h"
#include "report/json_library.h"

namespace blackout {

namespace {

std::string frameText(const Frame& f) {
  std::string function = f.function.empty() ? std::string("an unknown function") : escapeText(f.function);
  return f.file.empty() ? "in " + function
                        : fmt::format("{}:{}:{} in {}", escapeText(f.file), f.line, f.column, function);
}

}  // namespace

std::string renderSitesText(const std::vector<Site>& sites) {
  std::string out;
  for (const Site& site : sites) {
    out += fmt::format("{:016x} {}{}", site.id, nameOf(site.kind), site.atomic ? " atomic" : "");
    if (site.size != 0) out += fmt::format(" {}", site.size);
    if (!site.type.empty()) out += fmt::format(" {}", escapeText(site.type));
    out += '\n';
    for (std::size_t s = 0; s < site.sources.size(); ++s) {
      std::vector<Frame> frames = framesOf(site.sources[s]);
      for (std::size_t i = 0; i < frames.size(); ++i)
        out += fmt::format("    {}{}\n", i > 0 ? "  inlined into " : s > 0 ? "or, merged: " : "", frameText(frames[i]));
    }
  }
  out += fmt::format("{} site{}\n", sites.size(), sites.size() == 1 ? "" : "s");
  return out;
}

std::string renderSitesJson(const std::string& path, const std::vector<Site>& sites) {
  using Json = nlohmann::ordered_json;
  Json j;
  j["schema"] = kReportSchema;
  j["binary"] = path;
  j["sites"] = Json::array();
  for (const Site& site : sites) {
    Json row;
    row["id"] = fmt::format("{:016x}", site.id);
    row["kind"] = nameOf(site.kind);
    row["size"] = site.size;
    row["atomic"] = site.atomic;
    row["type"] = site.type;
    row["sources"] = Json::array();
    for (const Source& source : site.sources) {
      Json s;
      s["id"] = fmt::format("{:016x}", source.id);
      s["places"] = Json::array();
      for (const Place& p : source.chain) {
        Json place;
        place["linkage_name"] = p.function;
        place["file"] = p.file;
        place["line"] = p.line;
        place["column"] = p.column;
        place["discriminator"] = p.discriminator;
        s["places"].push_back(std::move(place));
      }
      row["sources"].push_back(std::move(s));
    }
    j["sites"].push_back(std::move(row));
  }
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace blackout
